// Stays until it is told to leave, or its supervisor is gone.
process.stdin.on('data', () => process.exit(0)).on('end', () => process.exit(1))
