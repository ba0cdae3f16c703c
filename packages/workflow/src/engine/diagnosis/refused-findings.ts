import { sentence } from '../../words.ts'
import type { FindingDraft } from './finding.ts'
import type { Quote } from './quote.ts'

/** Something that the engine has set aside. */
export interface SetAsideWork {
  /** What fails, as the beginning of a clause. */
  readonly during: string
  readonly runId?: string | undefined
  readonly step?: string | undefined
  /** Of what is no run. */
  readonly name?: string | undefined
  readonly reason: string
  /** For how long, in milliseconds. */
  readonly forMs: number
}

/** What fails in this process while it succeeds for others. `now` is the store's, in epoch milliseconds. */
export function refused(
  { during, runId, step, name, reason, forMs }: SetAsideWork,
  now: number,
  quote: Quote,
): FindingDraft {
  const run = [name, runId === undefined ? undefined : `run ${runId}`].filter((part) => part !== undefined)
  const what = [...(step === undefined ? [] : [`step "${step}"`]), ...run].join(' of ')
  const since = new Date(now - forMs)
  const why = sentence(quote({ what: 'refusal', reason }))
  const facts = { type: 'refused_by_store', during, runId, step, name, since } as const
  if (what === '') {
    return {
      ...facts,
      message: `Since ${since.toISOString()} the store refuses each call of this process for ${during}: ${why}`,
      remedy:
        'Look at what the reason names: give the right that is missing, make room, or change the setting of the server. The call is tried again all the time, and runs go on by themselves.',
    }
  }
  return {
    ...facts,
    message: `Since ${since.toISOString()} ${during} fails for ${what}: ${why} Everything else goes on.`,
    remedy:
      'Give the right that is missing, make room, or repair the rows of the run, as the reason says: it is tried again every minute, and goes on by itself. If nothing was changed by hand, report it with the rows of the run.',
  }
}
