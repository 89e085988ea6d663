"""Where blocks are computed: this process, chunk by chunk, or a cluster."""
