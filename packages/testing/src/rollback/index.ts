export {
  assertRollback,
  checkRollback,
  type RollbackArguments,
  type RollbackOptions,
} from './check-rollback.ts'
export { type RollbackFindings, RollbackReport, type RollbackRun } from './rollback-report.ts'
