export {
  checkArgument,
  checkFilter,
  checkOptions,
  type OptionRow,
  type OptionTable,
  readOptions,
  type SettingsOf,
  unknownName,
} from './check.ts'
export * from './kind.ts'
