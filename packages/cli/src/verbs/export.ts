import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { filterOf } from '../runs/filter.ts'

/** `belay export`. */
export async function run({ connect, flags, out, signal }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const { payloads, limit } = flags
  const filter = await filterOf(store, flags)
  let runs = 0
  for await (const exported of store.engine.runs.export({ ...filter, payloads, limit })) {
    out.record(exported)
    runs += 1
    if (signal.aborted) break
  }
  out.note(`${runs} ${runs === 1 ? 'run' : 'runs'} written${signal.aborted ? ' before it was stopped' : ''}.`)
  return signal.aborted ? 1 : 0
}
