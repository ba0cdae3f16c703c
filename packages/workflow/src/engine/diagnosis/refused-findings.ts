import { sentence } from '../../words.ts'
import type { Aside } from '../base/set-aside.ts'
import type { Finding } from './finding.ts'

/** What the store refuses to this process while it accepts others. */
export function refused({ during, runId, step, name, reason, since }: Aside): Finding {
  const run = runId === undefined ? name : `run ${runId}`
  const what = step === undefined ? run : `step "${step}" of ${run}`
  return {
    type: 'refused_by_store',
    ...{ during, runId, step, name, since: new Date(since) },
    message: `The store refuses ${what} since ${new Date(since).toISOString()} (${during}): ${sentence(reason)} Everything else goes on.`,
    remedy:
      'Give the right that is missing, make room, or repair the rows of the run, as the reason says: it is tried again every minute, and goes on by itself. If nothing was changed by hand, report it with the rows of the run.',
  }
}
