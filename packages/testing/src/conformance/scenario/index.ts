export {
  chainEdges,
  DIAMOND,
  definitionRecord,
  type Edges,
  fanEdges,
  Graph,
  looseEdges,
  PAIR,
} from './graph.ts'
export { Ids } from './ids.ts'
export * from './outcomes.ts'
export { CaseRun } from './run.ts'
export { LEASE_MS, planUndo, Scenario } from './scenario.ts'
export { undoneBranches, undoneChain } from './undone.ts'
export { KEYS_MAX, told, toldBy } from './values.ts'
export { CaseWorker, UNLIMITED } from './worker.ts'
