import { userInfo } from 'node:os'
import { REASON_OPEN } from '@belay/graph-view'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import { typedCommand } from './typed.ts'

/** Who acts: `--by`, or the user of this machine. */
export function actorOf({ flags, process }: Pick<Call, 'flags' | 'process'>): string {
  if (flags.by !== undefined) return flags.by
  try {
    return userInfo().username
  } catch {
    // In a container the user may have a number and no name.
    return process.env['USER'] || 'unknown'
  }
}

/** Throws a `CliError` with status 2 if no reason was given, or only the mark that stands for one in a command. */
export function assertReason(call: Call): void {
  const { reason } = call.flags
  const open = reason?.trim()
  if (open !== undefined && open !== '' && open !== REASON_OPEN) return
  const what = open === REASON_OPEN ? `is still ${REASON_OPEN}` : open === '' ? 'is empty' : 'is missing'
  throw misused(
    `--reason ${what}: the run's history keeps it.`,
    typedCommand(call, '--reason', `'${REASON_OPEN}'`),
  )
}
