import { type DeclaredSchedule, define, type EngineOptions, unchecked } from '@belay/workflow'
import { pause } from '../pause.ts'

/** What a handler did, and whose input it had. */
export interface Effect {
  readonly workflow: string
  readonly runId: string
  readonly step: string
  readonly key: string
  /** The workflow for which the input was made. */
  readonly of: string
}

export interface FlowInput {
  readonly of: string
  /** How long its first step takes, in milliseconds. */
  readonly takesMs?: number | undefined
}

interface Given {
  readonly input: FlowInput
  readonly runId: string
  readonly idempotencyKey: string
}

/** Two steps, one of which waits for a slot of a limit. Its handlers note what they were given. */
export function flow(name: string, note: (effect: Effect) => void) {
  const noted =
    (step: string) =>
    async ({ input, runId, idempotencyKey: key }: Given) => {
      const { of, takesMs = 0 } = input
      if (step === 'first') await pause(takesMs)
      note({ workflow: name, runId, step, key, of })
      return of
    }
  return define(name, { version: 1, input: unchecked<FlowInput>() })
    .step('first', { run: noted('first') })
    .step('limited', {
      dependsOn: ['first'],
      concurrency: { name: `limit of ${name}`, limit: 2 },
      run: noted('limited'),
    })
}

export type Flow = ReturnType<typeof flow>

/** Every second a run of the workflow, declared by its worker. */
export function everySecond(workflow: Flow): DeclaredSchedule {
  const { name } = workflow
  return { name: `tick ${name}`, cron: '* * * * * *', overlap: 'allow', workflow, input: { of: name } }
}

export const LEASE = '3s' satisfies EngineOptions['lease']
