import { describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { brokenRules, oldestCodeOf } from './setup/migration-rules.ts'

/** The first migration that says what code it allows. */
const FIRST_UNDER_RULE = 5

const record = (oldest: number) =>
  `INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0006_next', ${oldest});`

/** What the rules say of a migration 0006 with this text. */
const broken = (sql: string, oldest = 5) =>
  brokenRules({ tag: '0006_next', sql: `${sql}\n${record(oldest)}` }, 6, 5)

describe('the rules of migrations', () => {
  it('are kept by every migration since there are rules', () => {
    const ruled = MIGRATIONS.slice(FIRST_UNDER_RULE)

    expect(ruled.length).toBeGreaterThan(0)
    for (const [index, migration] of ruled.entries()) {
      const number = FIRST_UNDER_RULE + index
      const previous = index === 0 ? 0 : oldestCodeOf(ruled[index - 1]!)!
      expect(brokenRules(migration, number, previous), migration.tag).toEqual([])
    }
  })

  it('forbid in each migration of before what would have stopped the code before it', () => {
    // 0003 and 0004 changed checks, 0002 built indexes: real files, so that the rules are tried on more than examples.
    const [, , second, third] = MIGRATIONS
    expect(brokenRules(second!, 2, 0).join()).toMatch(/CREATE INDEX without CONCURRENTLY.*/)
    expect(brokenRules(third!, 3, 0).join()).toMatch(/ADD CONSTRAINT without NOT VALID/)
    const renaming = { ...MIGRATIONS[5]!, sql: MIGRATIONS[5]!.sql.replace(/^-- Stops.*\n/, '') }
    expect(brokenRules(renaming, 5, 0).join()).toMatch(/first line.*RENAME/)
  })

  it.each([
    ['ALTER TABLE "belay"."workflow_runs" DROP COLUMN "tags";', /DROP COLUMN/],
    ['ALTER TABLE belay.workflow_runs\n  DROP COLUMN IF EXISTS tags;', /DROP COLUMN/],
    ['ALTER TABLE belay.workflow_runs DROP tags;', /DROP COLUMN/],
    ['ALTER TABLE "belay"."workflow_runs" RENAME COLUMN "a" TO "b";', /RENAME/],
    ['ALTER TABLE "belay"."workflow_runs" RENAME TO "runs";', /RENAME/],
    ['ALTER VIEW belay.workflow_run_overview RENAME TO runs;', /RENAME/],
    ['DROP VIEW "belay"."workflow_run_overview";', /DROP of/],
    ['ALTER TABLE "belay"."workflow_runs" ALTER COLUMN "tags" SET NOT NULL;', /SET NOT NULL/],
    ['ALTER TABLE "belay"."workflow_runs" ALTER COLUMN "open_steps" SET DATA TYPE bigint;', /TYPE/],
    ['ALTER TABLE "belay"."workflow_runs" ALTER open_steps TYPE bigint;', /TYPE/],
    ['ALTER TABLE "belay"."workflow_runs" ADD COLUMN "region" text NOT NULL;', /without a DEFAULT/],
    ['ALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "c" CHECK ("open_steps" < 9);', /without NOT VALID/],
    ['ALTER TABLE "belay"."workflow_runs" ADD CHECK ("open_steps" < 9);', /without NOT VALID/],
    ['ALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "u" UNIQUE ("key");', /USING INDEX/],
    ['CREATE INDEX "i" ON "belay"."workflow_runs" USING btree ("key");', /CREATE INDEX without/],
    ['create unique index i on belay.workflow_runs (key);', /CREATE INDEX without/],
    [
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS "i" ON "belay"."workflow_runs" ("key");',
      /Outside a transaction/,
    ],
    [
      '-- Outside a transaction: an index.\nCREATE INDEX CONCURRENTLY "i" ON "belay"."workflow_runs" ("key");',
      /IF \[NOT\] EXISTS/,
    ],
    [
      'ALTER TABLE belay.workflow_runs ADD CONSTRAINT "c" CHECK (true) NOT VALID;\nALTER TABLE belay.workflow_runs VALIDATE CONSTRAINT "c";',
      /VALIDATE.*file of its own/,
    ],
  ])('forbid %s', (sql, remedy) => {
    expect(broken(sql)).toEqual([expect.stringMatching(remedy)])
  })

  it.each([
    'ALTER TABLE "belay"."workflow_runs" ADD COLUMN "region" text;',
    'ALTER TABLE "belay"."workflow_runs" ADD COLUMN "weight" integer DEFAULT 1 NOT NULL;',
    'ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "c";--> statement-breakpoint\nALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "c" CHECK (true) NOT VALID;',
    'ALTER TABLE "belay"."workflow_runs" ALTER COLUMN "tags" DROP NOT NULL;',
    'ALTER TABLE "belay"."workflow_runs" ALTER COLUMN "tags" DROP DEFAULT;',
    '-- Outside a transaction: all rows are read.\nALTER TABLE "belay"."workflow_runs" VALIDATE CONSTRAINT "c";',
    `CREATE TABLE "belay"."workflow_new" ("a" text NOT NULL CHECK ("a" <> ''));\nCREATE INDEX "i" ON "belay"."workflow_new" ("a");\nALTER TABLE "belay"."workflow_new" ADD CONSTRAINT "c" CHECK (true);`,
    '-- Outside a transaction: an index.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "i" ON "belay"."workflow_runs" ("key");',
    "-- DROP COLUMN is for later.\nUPDATE belay.workflow_workers SET name = 'DROP TABLE x;' WHERE false;",
    'CREATE FUNCTION "belay"."f"() RETURNS int LANGUAGE sql AS $$ SELECT 1; DROP TABLE x; $$;',
  ])('allow %s', (sql) => {
    expect(broken(sql)).toEqual([])
  })

  it('let a file that stops older code do anything, when it says why and records it', () => {
    const sql =
      '-- Stops older code: its column goes.\nALTER TABLE "belay"."workflow_runs" DROP COLUMN "tags";'

    expect(broken(sql, 6)).toEqual([])
    expect(broken(sql, 5)).toEqual([expect.stringMatching(/must be 6/)])
    expect(broken('-- Stops older code:\nSELECT 1;', 6)).toEqual([expect.stringMatching(/first line/)])
  })

  it('want to be told the oldest code, and none older than before', () => {
    const silent = {
      tag: '0006_next',
      sql: `INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0006_next');`,
    }

    expect(brokenRules(silent, 6, 5)).toEqual([expect.stringMatching(/no oldest_code/)])
    expect(broken('SELECT 1;', 6)).toEqual([expect.stringMatching(/first line/)])
    expect(broken('SELECT 1;', 4)).toEqual([expect.stringMatching(/less than/)])
  })
})
