import { pgSchema } from 'drizzle-orm/pg-core'
import { DEFAULT_SCHEMA } from '../schema-name.ts'
import { makeDefinitionSteps, makeDefinitions } from './definitions.ts'
import { makeLimitKeys, makeLimitSlots, makeLimits, makeLimitWaiters } from './limits.ts'
import { makeChildren, makeRuns } from './runs.ts'
import { makeReady, makeReadyItems, makeSteps } from './steps.ts'
import { makeAttempts, makeHistory, makeRunEnds, makeSignals, makeValues } from './trail.ts'
import { makeLeases, makeWorkers } from './workers.ts'

export { DEFAULT_SCHEMA }

/**
 * Belay's tables in the given Postgres schema, for drizzle queries.
 *
 * Payloads are `json`, not `jsonb`: they are stored unchanged, are cheaper to write, and keep `\u0000` in strings. Fixed, narrow columns come first,
 * so that reading a hot one never skips over a payload.
 */
export function makeTables(schemaName: string) {
  const schema = pgSchema(schemaName)
  return {
    schema,
    definitions: makeDefinitions(schema),
    definitionSteps: makeDefinitionSteps(schema),
    runs: makeRuns(schema),
    children: makeChildren(schema),
    steps: makeSteps(schema),
    ready: makeReady(schema),
    readyItems: makeReadyItems(schema),
    signals: makeSignals(schema),
    history: makeHistory(schema),
    attempts: makeAttempts(schema),
    values: makeValues(schema),
    runEnds: makeRunEnds(schema),
    workers: makeWorkers(schema),
    leases: makeLeases(schema),
    limits: makeLimits(schema),
    limitKeys: makeLimitKeys(schema),
    limitSlots: makeLimitSlots(schema),
    limitWaiters: makeLimitWaiters(schema),
  }
}

const defaultTables = makeTables(DEFAULT_SCHEMA)

// drizzle-kit generates the migrations from this module's exports.
export const belay = defaultTables.schema
export const workflowDefinitions = defaultTables.definitions
export const workflowDefinitionSteps = defaultTables.definitionSteps
export const workflowRuns = defaultTables.runs
export const workflowChildren = defaultTables.children
export const workflowSteps = defaultTables.steps
export const workflowReady = defaultTables.ready
export const workflowReadyItems = defaultTables.readyItems
export const workflowSignals = defaultTables.signals
export const workflowHistory = defaultTables.history
export const workflowAttempts = defaultTables.attempts
export const workflowValues = defaultTables.values
export const workflowRunEnds = defaultTables.runEnds
export const workflowWorkers = defaultTables.workers
export const workflowLeases = defaultTables.leases
export const workflowLimits = defaultTables.limits
export const workflowLimitKeys = defaultTables.limitKeys
export const workflowLimitSlots = defaultTables.limitSlots
export const workflowLimitWaiters = defaultTables.limitWaiters
