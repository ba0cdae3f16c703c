import { createHash } from 'node:crypto'
import type { Migration } from '../../src/migrate/migration.ts'
import { MIGRATIONS } from '../../src/migrate/migrations.generated.ts'

/** The number of the newest migration that this code knows. */
export const NEWEST = MIGRATIONS.length - 1

/** A migration of a future release, after the existing ones and the ones given before it. It allows code as old as `oldestCode`. */
export function nextMigration(number: number, sql: string, oldestCode: number | null = NEWEST): Migration {
  const tag = `${String(number).padStart(4, '0')}_of_the_next_release`
  const record =
    oldestCode === null
      ? `INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('${tag}');`
      : `INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('${tag}', ${oldestCode});`
  const text = `${sql}\n--> statement-breakpoint\n${record}\n`
  return { tag, hash: createHash('sha256').update(text).digest('hex'), sql: text }
}

/** An index on a table in use, built as the rules demand. */
export const INDEX = `-- Outside a transaction: it builds an index while the table is written to.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "workflow_runs_next_idx" ON "belay"."workflow_runs" USING btree ("workflow", "id");`
