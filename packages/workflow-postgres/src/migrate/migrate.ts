import { BelayError, sentence } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { MIGRATION_TIMEOUT_MS, type Statement } from '../connection/statement.ts'
import { type Blocker, blockedError, findBlockers, LOCK_KEY } from './blockers.ts'
import {
  type Migration,
  type MigrationTarget,
  recordHash,
  runsOutsideTransaction,
  withoutSchema,
} from './migration.ts'
import { MIGRATIONS } from './migrations.generated.ts'
import { applyOutside } from './outside.ts'
import { checkRights } from './rights.ts'
import { checkNobodyIsCutOff } from './running-workers.ts'
import { checkApplied, readApplied } from './schema-version.ts'

/** What a call of `migrate` did. */
export interface MigrationReport {
  /** Migrations that this call applied, in order; empty when the schema was up to date. */
  readonly applied: readonly string[]
}

/** How a migration waits for the locks it needs, and whom it may stop. */
export interface MigrationSettings {
  /**
   * How long a statement of a migration waits for a lock, milliseconds. Everybody who wants the table waits behind it meanwhile. Then the
   * migration is rolled back, lets the others pass, and begins again. Default 2000.
   */
  readonly lockTimeoutMs?: number | undefined
  /** How often it begins before it gives up with `store_contended`. Default 20. */
  readonly lockTriesMax?: number | undefined
  /**
   * Apply a migration that stops older code although workers run, instead of throwing `workers_running`. Their statements fail from then on. Default
   * false.
   */
  readonly evenIfWorkersRun?: boolean | undefined
}

export const LOCK_TIMEOUT_MS = 2_000
export const LOCK_TRIES_MAX = 20

/** Other processes that migrate are asked for that often, give or take half. */
const BUSY_PAUSE_MS = 200

// Tried, never waited for: who waits inside a statement holds a snapshot, which an index that is built concurrently would wait for.
const takeLock: Statement<{ readonly is_taken: boolean }> = {
  name: null,
  text: `select pg_try_advisory_xact_lock(${LOCK_KEY}) as is_taken, set_config('lock_timeout', $1::text, true)`,
  timeoutMs: MIGRATION_TIMEOUT_MS,
}

/**
 * Brings the schema up to this version of Belay, under a lock: any number of processes may call it at once. Migrations that follow each other
 * are one transaction, unless they say that they must not be part of one. A newer schema that allows this code is left as it is.
 * Throws `schema_too_new` when it does not, `store_misconfigured` when a migration was edited since, `workers_running`, and `store_contended`.
 */
export async function migrateSchema(
  connection: Connection,
  schema: string,
  settings: MigrationSettings = {},
  known: readonly Migration[] = MIGRATIONS,
): Promise<MigrationReport> {
  const {
    lockTimeoutMs = LOCK_TIMEOUT_MS,
    lockTriesMax = LOCK_TRIES_MAX,
    evenIfWorkersRun = false,
  } = settings
  const target = { connection, schema, known, lockTimeoutMs, evenIfWorkersRun }
  const tries = new Tries(target, lockTriesMax)
  const applied: string[] = []
  for (;;) {
    const next = await tries.of(() => applyNext(target))
    if (next === 'busy') await tries.pauseForOther()
    else {
      applied.push(...next.applied)
      if (next.isLast) return { applied }
    }
  }
}

interface Applied {
  readonly applied: readonly string[]
  readonly isLast: boolean
}

/** Applies what can be one transaction, or the one migration that must not be part of one. `busy`: another process is migrating. */
async function applyNext(target: MigrationTarget): Promise<Applied | 'busy'> {
  const { connection, schema, known } = target
  const next = await connection.transaction(async (transaction) => {
    const [lock] = await transaction.query(takeLock, [`${target.lockTimeoutMs}ms`])
    if (lock?.is_taken !== true) return 'busy'
    const before = await readApplied(transaction, schema)
    checkApplied(before ?? [], schema, known)
    const open = known.slice(before?.length ?? 0)
    // All that is pending at once: nothing is applied when one of them cannot be.
    if (before !== null && !target.evenIfWorkersRun) await checkNobodyIsCutOff(transaction, schema, open)
    const end = open.findIndex(runsOutsideTransaction)
    const together = end === -1 ? open : open.slice(0, end)
    await applyTogether(transaction, together, schema)
    return { together, rest: open.slice(together.length) }
  })
  if (next === 'busy') return next
  const { together, rest } = next
  if (together.length > 0 || rest.length === 0) {
    return { applied: together.map(({ tag }) => tag), isLast: rest.length === 0 }
  }
  const outcome = await applyOutside(target, rest[0]!)
  return outcome === 'busy' ? outcome : { applied: outcome, isLast: rest.length === 1 }
}

async function applyTogether(
  transaction: Connection,
  migrations: readonly Migration[],
  schema: string,
): Promise<void> {
  if (migrations.length === 0) return
  const isThere = await checkRights(transaction, schema)
  for (const migration of isThere ? migrations.map(withoutSchema) : migrations) {
    await transaction.script(migration.sql).catch((error: unknown) => {
      throw explained(error, migration.tag, schema)
    })
  }
  for (const { tag, hash } of migrations) await transaction.query(recordHash, [tag, hash])
}

/** Begins again what waited too long for a lock, a bounded number of times, and remembers who held it. */
class Tries {
  readonly #target: MigrationTarget
  readonly #max: number
  readonly #busyUntil = performance.now() + MIGRATION_TIMEOUT_MS
  #made = 0
  #blockers: readonly Blocker[] = []

  constructor(target: MigrationTarget, max: number) {
    this.#target = target
    this.#max = max
  }

  async of<Result>(run: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        await this.#afterLockTimeout(error)
      }
    }
  }

  /** Another process is migrating: it is waited for as long as a migration may take. */
  async pauseForOther(): Promise<void> {
    if (performance.now() < this.#busyUntil) return pause(BUSY_PAUSE_MS * (0.5 + Math.random()))
    const { connection, schema } = this.#target
    throw blockedError(
      `Schema "${schema}" was not migrated: another process has been migrating for more than ${MIGRATION_TIMEOUT_MS / 1_000} s.`,
      await findBlockers(connection, schema, 0),
    )
  }

  async #afterLockTimeout(cause: unknown): Promise<void> {
    const { connection, schema, lockTimeoutMs } = this.#target
    this.#made += 1
    const found = await findBlockers(connection, schema, lockTimeoutMs)
    if (found.length > 0) this.#blockers = found
    if (this.#made >= this.#max) {
      const times = this.#made === 1 ? 'once' : `${this.#made} times`
      throw blockedError(
        `Schema "${schema}" was not migrated: a migration waited ${times} for ${lockTimeoutMs} ms for a lock, and was rolled back.`,
        this.#blockers,
        { cause },
      )
    }
    // Longer than it kept the others waiting, so that they get on.
    await pause(lockTimeoutMs * (1 + Math.random()))
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

// Codes of "there is already a …": schema, table, function, object.
const DUPLICATES = new Set(['42P06', '42P07', '42723', '42710'])

function explained(error: unknown, tag: string, schema: string): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (!DUPLICATES.has(code)) return error
  const message = error instanceof Error ? error.message : String(error)
  return new BelayError(
    'store_misconfigured',
    `Migration ${tag} cannot be applied to schema "${schema}": ${sentence(message)} The schema holds something of that name already.`,
    {
      remedy:
        'Choose another name with the option "schema"; or, if the migrations were run by hand, run the rest of them too.',
      cause: error,
    },
  )
}
