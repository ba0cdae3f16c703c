import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Adapter, CollectedRun, CollectMode, NewCall, SavedDefinition } from '../../adapter/index.ts'
import type { StartPolicy } from '../../definition/start-policy.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { jsonBytes } from '../base/payload.ts'
import type { CheckedRun } from './checked-run.ts'
import { RunStarter, type RunStarterParts, STARTS_MAX, type Start } from './run-starter.ts'

export type CallCollector = RunStarter<NewCall, CollectedRun>

/** Sends one call to the store at a time, so that the calls of a process keep their order. */
export function callCollector({
  adapter,
  registry,
  ...parts
}: Pick<RunStarterParts, 'runtime' | 'outage'> & CollectingParts): CallCollector {
  const store: CollectingStore = (calls) => registry.sending(calls, (sent) => adapter.collectCalls(sent))
  return new RunStarter({ ...parts, store, lanes: 1 })
}

interface CollectingParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
}

type CollectingStore = RunStarterParts<NewCall, CollectedRun>['store']

/** How a call was collected. */
export interface CollectedStart {
  readonly by: CollectMode
  /** True if the call joined a run that an earlier call had opened, false if it opened the run. */
  readonly joined: boolean
  /** How many calls the run had with this one. */
  readonly calls: number
  /** When the run may begin, as far as the calls until now decide it. */
  readonly beginsAt: Date
}

/** Refuses a start by name in a process that does not know how to collect it. */
export function refuseUncollected({ name, shape }: SavedDefinition): void {
  if (shape.collects === undefined) return
  throw new BelayError(
    'unknown_workflow',
    `run(): workflow "${name}" collects its starts (${shape.collects}), and this engine does not have its definition, which tells how.`,
    { remedy: "Add it to the engine's `workflows`; its handlers may be null." },
  )
}

/** Collects calls outside a transaction. Results are in order. */
export async function collectAlone(
  collector: CallCollector,
  calls: readonly NewCall[],
): Promise<readonly Start<CollectedRun>[]> {
  const starts: Start<CollectedRun>[] = []
  // One after the other: the order of the calls is that of the items in a batch.
  for (let first = 0; first < calls.length; first += STARTS_MAX)
    starts.push(...(await collector.startMany(calls.slice(first, first + STARTS_MAX))))
  return starts
}

/** Collects calls inside the caller's transaction. Never repeated, as a start there. */
export async function collectWithin(
  { adapter, registry }: CollectingParts,
  calls: readonly NewCall[],
  tx: unknown,
): Promise<readonly CollectedRun[]> {
  const collected: CollectedRun[] = []
  for (let first = 0; first < calls.length; first += STARTS_MAX)
    collected.push(
      ...(await registry.sending(
        calls.slice(first, first + STARTS_MAX),
        (sent) => adapter.collectCalls(sent, { tx }),
        tx,
      )),
    )
  return collected
}

/** A checked run as a call to be collected. */
export function newCall(
  run: Omit<NewCall, 'callId' | 'collectKey' | 'policy' | 'inputBytes' | 'inputMaxBytes'>,
  { key, collectKey = '' }: CheckedRun,
  { policy, inputMaxBytes }: { readonly policy: StartPolicy; readonly inputMaxBytes: number },
): NewCall {
  return {
    ...run,
    key: null,
    callId: key === null ? run.runId : idOfKey(run.workflow, key),
    collectKey,
    policy: policy.collect,
    inputBytes: jsonBytes(run.input ?? 'null'),
    inputMaxBytes,
  }
}

/** A key names the call: the same key gives the same id in every process. */
function idOfKey(workflow: string, key: string): string {
  const hex = bytesToHex(sha256(utf8ToBytes(JSON.stringify([workflow, key]))))
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}

/** Throws `key_conflict` if the call's key named a call with another input. */
export function assertSameCall(call: NewCall, key: string | null, collected: CollectedRun): void {
  if (key === null || !collected.repeated) return
  const [given, known] = [call.inputHash ?? null, collected.inputHash ?? null]
  if (given === known || given === null || known === null) return
  throw new BelayError(
    'key_conflict',
    `Key ${shown(key)} of workflow "${call.workflow}" belongs to an earlier call, with another input, which run ${collected.runId} carries.`,
    { remedy: "Use a key that names this call's event.", runId: collected.runId },
  )
}

export function collectedStart(
  by: CollectMode,
  { created, position, beginsAt }: CollectedRun,
): CollectedStart {
  return { by, joined: !created, calls: position, beginsAt: new Date(beginsAt) }
}
