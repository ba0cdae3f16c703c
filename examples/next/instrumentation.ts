/** Next.js calls this once in each server that it starts, before the first request, and never in `next build`. */
export async function register(): Promise<void> {
  // In this form Next.js leaves the import out of what it builds for the edge runtime, which has no TCP sockets.
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startWorker } = await import('./worker.ts')
    await startWorker()
  }
}
