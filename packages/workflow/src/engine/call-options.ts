import { anything, duration, type OptionTable } from '../options/index.ts'

export const RUN_MANY_OPTIONS = {
  tx: { sets: 'the transaction that the starts are part of', takes: anything },
} satisfies OptionTable

export const STOP_OPTIONS = {
  timeout: { sets: 'how long handlers may continue', takes: duration(0, '1d'), default: '30s' },
} satisfies OptionTable
