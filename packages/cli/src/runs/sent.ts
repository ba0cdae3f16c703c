import type { RunSummary, SignalReceipt } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { definitionOf } from '../store/definitions.ts'
import type { Store } from '../store/store.ts'
import type { Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { orCommands } from './act-on-one.ts'
import { runNamed } from './names.ts'

/** Sends a run something and tells what became of it. Throws a `CliError` with status 2 if nobody would check a payload. */
export async function send(
  call: Call,
  { hasPayload, went }: { readonly hasPayload: boolean; readonly went: string },
  sends: (store: Store, run: RunSummary) => Promise<SignalReceipt>,
): Promise<ExitStatus> {
  const store = await call.connect()
  const run = await runNamed(store, call.args['run']!)
  if (hasPayload && call.flags.unchecked !== true) assertChecked(store, run)
  const receipt = await orCommands(store, run, () => sends(store, run))
  if (call.out.json) call.out.document(receipt)
  else tell(call.out, receipt, went)
  return receipt.result === 'ignored' ? 1 : 0
}

/** Throws a `CliError` with status 2 if no definition of the config checks what this run is sent. */
export function assertChecked(store: Store, run: RunSummary): void {
  if (definitionOf(store, run) !== undefined) return
  throw misused(
    `No config has ${safe(run.workflow)} v${run.version}, so nobody checks this payload. --unchecked sends it all the same.`,
  )
}

function tell(out: Output, { result, reason, step }: SignalReceipt, went: string): void {
  switch (result) {
    case 'delivered':
      return out.line(`delivered: ${went}`)
    case 'kept':
      return out.line(`kept: "${safe(step)}" gets it once it waits`)
    case 'duplicate':
      return out.line('duplicate: it was sent before, and nothing has changed')
    case 'ignored':
      return out.line(`ignored: ${IGNORED[reason!]}, and nothing was recorded`)
  }
}

const IGNORED: Readonly<Record<NonNullable<SignalReceipt['reason']>, string>> = {
  signalled: 'the step has another signal already',
  timed_out: 'the timeout of the step came first',
  step_over: 'the step has ended',
  run_over: 'the run has ended',
}
