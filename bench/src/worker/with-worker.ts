import type { WorkerSetup } from './messages.ts'
import { WorkerProcess } from './worker-process.ts'

/** Opens a worker process for `work` that is set up but does not work yet, and ends it afterwards. */
export async function withWorker<T>(
  setup: WorkerSetup,
  work: (worker: WorkerProcess) => Promise<T>,
): Promise<T> {
  const worker = await WorkerProcess.open(setup)
  try {
    return await work(worker)
  } finally {
    await worker.close()
  }
}
