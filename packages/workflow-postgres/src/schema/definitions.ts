import { sql } from 'drizzle-orm'
import { check, index, integer, json, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { instant, type Schema } from './columns.ts'

/** One row per (name, version), never changed: runs are pinned to it. */
export function makeDefinitions(schema: Schema) {
  return schema.table(
    'workflow_definitions',
    {
      id: integer().primaryKey().generatedAlwaysAsIdentity(),
      version: integer().notNull(),
      createdAt: instant('created_at').notNull(),
      name: text().notNull(),
      checksum: text().notNull(),
      shape: json().notNull(),
      /** The numbers of its pivots, and of the steps whose effect nothing can undo; null for none. */
      pivots: integer().array(),
      irreversible: integer().array(),
    },
    (table) => [
      unique('workflow_definitions_name_version_key').on(table.name, table.version),
      check('workflow_definitions_version_allowed', sql`${table.version} >= 1`),
    ],
  )
}

/** The edges of each definition, in both directions, so that SQL can join the graph instead of interpreting it. */
export function makeDefinitionSteps(schema: Schema) {
  return schema.table(
    'workflow_definition_steps',
    {
      definitionId: integer('definition_id').notNull(),
      step: integer().notNull(),
      name: text().notNull(),
      dependencies: integer().array().notNull(),
      dependents: integer().array().notNull(),
      /** What the step waits for, like `approval`; null for a step that only works. */
      kind: text(),
    },
    (table) => [
      primaryKey({ name: 'workflow_definition_steps_pkey', columns: [table.definitionId, table.step] }),
      index('workflow_definition_steps_approval_idx')
        .on(table.definitionId, table.step)
        .where(sql`${table.kind} = 'approval'`),
    ],
  )
}
