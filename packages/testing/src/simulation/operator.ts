import type { Engine, RunHandle } from '@belay/workflow'
import type { StepRecord } from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'
import type { Random } from './random.ts'

export interface Operation {
  readonly name: string
  readonly act: (engine: Engine) => Promise<unknown>
}

/** Something that an operator might do to one of the runs, where it stands; undefined when chance finds nothing. */
export function operationOn({ runs }: Dump, random: Random): Operation | undefined {
  if (runs.length === 0) return undefined
  const found = random.pick(runs)
  const { runId } = found.run
  const operation = fittingOperation(found, random)
  if (operation === undefined) return undefined
  const [name, act] = operation
  return { name: `${name} ${runId}`, act: (engine) => act(engine.runs.handle(runId)) }
}

type Fitting = readonly [name: string, act: (run: RunHandle) => Promise<unknown>]

function fittingOperation({ run, steps }: RunDump, random: Random): Fitting | undefined {
  const stepIn = (...statuses: readonly StepRecord['status'][]) => {
    const fitting = steps.filter(({ status }) => statuses.includes(status))
    return fitting.length === 0 ? undefined : random.pick(fitting).name
  }
  switch (run.status) {
    case 'running': {
      const ready = stepIn('ready')
      if (ready === undefined || random.chance(0.5)) return ['pause', (handle) => handle.pause()]
      if (random.chance(0.5)) return [`retry ${ready} of`, (handle) => handle.retryStep(ready)]
      return [`skip ${ready} of`, (handle) => handle.skipStep(ready, { output: 'stand-in' })]
    }
    case 'paused':
      return ['resume', (handle) => handle.resume()]
    case 'failed':
    case 'compensated':
    case 'cancelled':
      return ['retry', (handle) => handle.retry()]
    case 'compensating': {
      const running = stepIn('running')
      if (running === undefined) return undefined
      return [`give up ${running} of`, (handle) => handle.giveUpStep(running, { reason: 'it hangs' })]
    }
    case 'compensation_failed': {
      const parked = stepIn('compensation_failed')!
      if (random.chance(0.7)) {
        return [`retry the undo of ${parked} of`, (handle) => handle.retryCompensation(parked)]
      }
      return [`skip the undo of ${parked} of`, (handle) => handle.skipCompensation(parked)]
    }
    default:
      return undefined
  }
}
