import { BelayError, StoreContendedError, StoreUnavailableError } from '@belay/workflow/adapter'
import type { Store } from '@belay/workflow/store'
import { causesOf, codeOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { openUntil } from '../connection/open-connection.ts'
import { migrateSchema } from '../migrate/migrate.ts'
import { checkSchemaVersion } from '../migrate/schema-version.ts'
import type { OpenState, SqlAdapterParts } from '../open-store.ts'
import { BASELINE } from '../tables/baseline.generated.ts'
import { type ClaimMark, claim, newMark, take } from './claim.ts'
import { commit } from './commit.ts'
import { define } from './define.ts'
import { hintsOver } from './hints.ts'
import { load, mailOf, payloads, peek } from './load.ts'
import { answers, send } from './send.ts'
import { start } from './start.ts'
import { sweep } from './sweep.ts'
import { within } from './within.ts'
import { bump, expireAll, leave, register, renew } from './workers.ts'

/** The verbs of the new port over a connection, with all that the adapters of today give: pools, poolers, callers’ transactions, time limits. */
export function sqlStore(parts: SqlAdapterParts): Store {
  let isClosed = false
  const whileOpen = (connection: Connection) => openUntil(() => isClosed, connection)
  const connection = whileOpen(parts.connection)
  const { schema, remedy } = parts
  let opened: Promise<void> | undefined
  const open = () => {
    opened ??= (async () => {
      await parts.connect()
      await checkSchemaVersion(connection, { schema, remedy }, BASELINE)
      await parts.onOpen?.(expireAll)
    })().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const state = { isOpen: () => opened !== undefined, open }
  const renewing = (leaseMs: number) => whileOpen(parts.renewing?.(leaseMs) ?? parts.connection)
  return {
    name: parts.name,
    open,
    async migrate() {
      await parts.connect()
      await migrateSchema(connection, schema, { evenIfWorkersRun: true }, BASELINE)
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await parts.wakeup.close()
      await parts.disconnect()
    },
    refusalOf,
    ...verbsOver(connection, parts, state),
    renew: (worker, renewal) => renew(renewing(renewal.leaseMs), worker, renewal),
    ...hintsOver(parts.wakeup),
  }
}

type Verbs = Omit<Store, 'name' | 'open' | 'migrate' | 'close' | 'refusalOf' | 'renew' | 'hint' | 'onHint'>

function verbsOver(connection: Connection, { given }: SqlAdapterParts, state: OpenState): Verbs {
  const over = async ({ tx }: { readonly tx?: unknown } = {}) =>
    tx === undefined ? connection : given(tx, state)
  const marks = new Map<number, ClaimMark>()
  const markOf = (worker: number): ClaimMark => {
    const mark = marks.get(worker) ?? newMark()
    marks.set(worker, mark)
    return mark
  }
  return {
    define: async (definitions, within) => define(await over(within), definitions),
    start: async (request, within) => start(await over(within), request, within?.owner),
    send: async (mail, within) => send(await over(within), mail),
    answers: (sequences) => answers(connection, sequences),
    register: (identity) => register(connection, identity),
    leave: (worker) => leave(connection, worker),
    bump: (worker) => bump(connection, worker),
    sweep: () => sweep(connection),
    claim: (identity, request) => claim(connection, identity, request, markOf(identity.worker)),
    take: (identity, runs) => take(connection, identity, runs),
    load: (worker, which) => load(connection, worker, which),
    peek: (runs) => peek(connection, runs),
    mailOf: (worker, how) => mailOf(connection, worker, how),
    payloads: (wanted) => payloads(connection, wanted),
    commit: (identity, members) => commit(connection, identity, members),
    within: async (tx, outcome) => within(await given(tx, state), outcome),
  }
}

/** Classes of SQLSTATE that say so for certain. All others, and errors of the network, leave it open. */
const REFUSED = /^(21|22|23|40|42|53|54|55)/

function refusalOf(error: unknown): 'data' | 'other' | null {
  for (const cause of causesOf(error)) {
    const code = codeOf(cause)
    if (code === null || !REFUSED.test(code)) continue
    // Another transaction’s outcome has the key. That is no fault of the data.
    return /^(22|54)/.test(code) || (code.startsWith('23') && code !== '23505') ? 'data' : 'other'
  }
  if (error instanceof StoreContendedError) return 'other'
  if (error instanceof StoreUnavailableError) return error.answered === true ? 'other' : null
  return BelayError.is(error) && error.code !== 'store_unavailable' ? 'other' : null
}
