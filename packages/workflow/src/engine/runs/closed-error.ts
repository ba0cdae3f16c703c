import { BelayError } from '../../errors.ts'

/** The engine was closed while somebody waited for the run. */
export function closedError(runId: string): BelayError {
  return new BelayError(
    'engine_closed',
    `The engine was closed while run ${runId} was awaited. The run goes on.`,
    { runId, remedy: 'To await it again, call result() of engine.runs.handle(id) on another engine.' },
  )
}
