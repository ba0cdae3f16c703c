import { define, type Engine, PermanentError } from '@belay/workflow'
import { vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'

/** Whether the jobs succeed. */
export const mail = { works: false }

const job = define('job', { version: 1 }).step('send', {
  retry: false,
  run: () => {
    if (!mail.works) throw new PermanentError('the mail server is away')
    return 'sent'
  },
})
export const job2 = define('job', { version: 2 }).step('send', { run: () => 'sent' })
const batch = define('batch', { version: 1 }).workflow('only', job)
export const idle = define('idle', { version: 1 }).waitForSignal('go', {})

export interface Jobs extends TestStore {
  readonly worker: Engine
}

/** Failed jobs, of which some are children of failed batches: those only their parents retry. And two runs that wait. */
export async function jobs(
  { single, children }: { readonly single: number; readonly children: number },
  options: { readonly isShared?: boolean } = {},
): Promise<Jobs> {
  mail.works = false
  const store = await testStore(options)
  const worker = store.engine({ workflows: [job, batch, idle], name: 'mailer', concurrency: 20 })
  await worker.start()
  await worker.runMany(
    job,
    Array.from({ length: single }, (_, n) => ({ input: undefined, key: `job:${n}` })),
  )
  for (let n = 0; n < children; n += 1) await worker.run(batch, undefined, { key: `batch:${n}` })
  for (let n = 0; n < 2; n += 1) await worker.run(idle, undefined, { key: `idle:${n}` })
  await vi.waitFor(async () => {
    const ended = await worker.runs.count({ status: ['failed', 'compensated'] })
    const waiting = await worker.runs.count({ status: 'waiting', workflow: 'idle' })
    if (ended.count !== single + 2 * children || waiting.count !== 2) throw new Error('They are under way.')
  }, 20_000)
  return { ...store, worker }
}
