import type { FromEngine } from '../messages.ts'
import type { Line } from './model.ts'

type Told = FromEngine & { readonly type: 'event' }

/** What a reader should know of an event; undefined for what the drawings show better. */
export function sentenceOf(told: Told): Pick<Line, 'text' | 'looks'> | undefined {
  switch (told.name) {
    case 'step.started':
      return plain(`${told.event.direction === 'forward' ? 'runs' : 'undoes'} ${told.event.step}`)
    case 'step.recovered':
      return good(
        `gives ${told.event.step} back to the queue: the lease of its attempt ${told.event.attempt} is over`,
      )
    case 'step.discarded':
      return bad(`comes too late with ${told.event.step}: its lease is lost, and its result is discarded`)
    case 'step.retrying':
      return bad(
        `failed in ${told.event.step}, and tries again in ${told.event.delayMs} ms: ${told.event.error.message}`,
      )
    case 'step.failed':
      return bad(`failed in ${told.event.step}: ${told.event.error.message}`)
    case 'step.compensation_failed':
      return bad(`cannot undo ${told.event.step}, which waits for you: ${told.event.error.message}`)
    case 'step.compensated':
      return good(`has undone ${told.event.step}`)
    case 'lease.lost':
      return bad('was declared dead, and goes on under a new id')
    case 'run.ended':
      return good(`ends the run ${told.event.key ?? told.event.runId}: ${told.event.status}`)
    case 'store.unavailable':
      return bad('cannot reach the database')
    case 'store.recovered':
      return good('reaches the database again')
    default:
      return undefined
  }
}

const plain = (text: string) => ({ text, looks: 'plain' as const })
const good = (text: string) => ({ text, looks: 'good' as const })
const bad = (text: string) => ({ text, looks: 'bad' as const })
