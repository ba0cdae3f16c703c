import { BelayError } from '../../errors.ts'
import { presentable } from '../../thrown.ts'
import type { Runtime } from '../base/runtime.ts'
import { answerOf } from '../base/user-code.ts'
import type { Archive } from './prune.ts'

/** How long an archive may take for one batch: it writes up to 16 MB elsewhere. */
const ARCHIVE_MS = 600_000

/** The archive as a loop calls it: with a time limit, and never while an earlier call is under way. */
export function archiveApart(archive: Archive, { clock, context }: Runtime): Archive {
  let isUnderWay = false
  return async (runs) => {
    if (isUnderWay)
      throw new BelayError(
        'function_timeout',
        'An earlier call of `retention.archive` has not ended. It is not called again until it has, and the runs that it would get are kept. Give what it waits for a time limit of its own.',
      )
    isUnderWay = true
    const call = async () => {
      try {
        await archive(runs)
      } catch (error) {
        throw presentable(error)
      } finally {
        isUnderWay = false
      }
    }
    await answerOf(clock, '`retention.archive`', () => context.run(call), ARCHIVE_MS)
  }
}
