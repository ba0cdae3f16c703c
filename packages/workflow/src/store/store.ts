import type { JsonText } from '../adapter/new-item.ts'
import type { DefinitionRecord, SavedDefinition } from '../adapter/records.ts'
import type { WithinTransaction } from '../adapter/transaction.ts'
import type { Committed, Member } from './commit.ts'
import type { Identity, NewIdentity, Renewal, Renewed, Swept } from './identity.ts'
import type { Mail, Sent, StoredMail } from './mail.ts'
import type { NewRuns, OwnedRun, StartedRun } from './run-row.ts'

/**
 * Where runs are kept. A verb is one atomic step, moves rows and messages, and decides nothing about a unit.
 *
 * A *guarded* verb names the worker and its epoch. While it is under way, the worker cannot be declared dead; if it is dead or in another epoch, the verb
 * writes nothing. Below a run’s row in `live` only its owner writes, so no two writers meet there. A verb that rejects has done nothing, or it is not known
 * whether it has: see {@link Store.refusalOf}.
 */
export interface Store {
  readonly name: string
  /** Checks the schema. May be called again. */
  open(): Promise<void>
  /** Makes the schema, where it is missing. */
  migrate(): Promise<void>
  close(): Promise<void>

  /** Whether a verb that rejected has certainly done nothing: because of its `data`, or for another reason. Null: it may have been done. */
  refusalOf(error: unknown): 'data' | 'other' | null

  /** Stores definitions that are missing, and answers what is stored of each, in their order. Repeated: the same. */
  define(
    definitions: readonly DefinitionRecord[],
    within?: WithinTransaction,
  ): Promise<readonly SavedDefinition[]>

  /**
   * Runs with all their steps. A key that is taken answers the run that has it. With `owner`, runs that can begin now are its own; if it is behind, they are
   * anybody’s. Repeated with the same ids: `created` is false.
   */
  start(
    request: NewRuns,
    within?: WithinTransaction & { readonly owner?: Identity },
  ): Promise<readonly StartedRun[]>

  /** Mail for runs, in order. Locks nothing of them. Repeated under the same key: `duplicate`. */
  send(mail: readonly Mail[], within?: WithinTransaction): Promise<readonly Sent[]>
  /** The answers to mail of a run that was applied, by sequence; those that were not are left out. */
  answers(sequences: readonly number[]): Promise<ReadonlyMap<number, JsonText>>

  register(identity: NewIdentity): Promise<Identity>
  /** Prolongs the lease from now on. Waits for no commit. */
  renew(worker: number, renewal: Renewal): Promise<Renewed>
  /** Forgets a worker that owns nothing. Otherwise its lease is over, and a sweep finds what it left. */
  leave(worker: number): Promise<void>
  /** Raises the epoch: waits for the worker’s statements under way, and shuts out those that arrive later. Null: it is dead. */
  bump(worker: number): Promise<number | null>
  /**
   * Declares workers dead whose lease is over; one that is writing is not silent. What they owned is nobody’s, lost and due. Gives runs whose time has come
   * their place. Mail for runs that have ended is answered, or it reopens them. Any worker may, at any time.
   */
  sweep(): Promise<Swept>

  /** Guarded. Runs of these definitions that nobody owns, and that are due or have mail: those with the first places. */
  claim(identity: Identity, request: ClaimRequest): Promise<Claimed>
  /** Guarded. These runs, whatever they wait for, also such as have ended; without those that somebody owns. */
  take(identity: Identity, runs: readonly string[]): Promise<readonly OwnedRun[]>
  /** The runs that a worker owns: those named, or all but those named. */
  load(
    worker: number,
    which: { readonly only: readonly string[] } | { readonly except: readonly string[] },
  ): Promise<readonly OwnedRun[]>
  /** These runs as they are stored, whoever owns them. */
  peek(runs: readonly string[]): Promise<readonly OwnedRun[]>
  /** Mail that is not applied, of the runs that a worker owns. `hinted`: only what was sent while it owned them, which is found sooner. */
  mailOf(worker: number, how: 'hinted' | 'all'): Promise<readonly (StoredMail & { readonly run: string })[]>
  /** Payloads of units. */
  payloads(wanted: readonly { readonly run: string; readonly no: number }[]): Promise<readonly Payloads[]>

  /** Guarded. All members, or none. */
  commit(identity: Identity, members: readonly Member[]): Promise<Committed>
  /** The outcome of a transactional step, in its transaction. False: another one was committed, or none may be any more; then it must roll back. */
  within(tx: unknown, outcome: Mail): Promise<boolean>

  /** Tells others that there may be runs to claim or mail to read. It may be lost. */
  hint(hint: Hint): void
  onHint(listener: (hint: Hint) => void): () => void
}

export interface ClaimRequest {
  readonly definitions: readonly number[]
  readonly max: number
  /** Which runs with mail: those whose senders saw no owner, or up to a bounded number of all; `after`: with greater ids than this one. */
  readonly mailed: 'none' | 'hinted' | { readonly after: string | null }
}

export interface Claimed {
  readonly runs: readonly OwnedRun[]
  /** Where the next look at all mail goes on; null: from the start. */
  readonly mailAfter: string | null
  /** In how many milliseconds the next of these definitions’ runs is due; null: none is. */
  readonly nextMs: number | null
}

export interface Payloads {
  readonly run: string
  readonly no: number
  readonly item: JsonText
  readonly output: JsonText
  readonly error: JsonText
}

/** Runs of definitions, or of any if none is named; or the mail of a worker. */
export type Hint = { readonly definitions: readonly number[] } | { readonly worker: number }
