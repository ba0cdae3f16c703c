import { expect, it } from 'vitest'
import { actionText, commandText, participleOf } from '../src/index.ts'

it('people read of an undo, and skip steps only', () => {
  expect(participleOf({ verb: 'skipCompensation', step: 'chargeCard' })).toBe(
    'marked as undone at chargeCard',
  )
  expect(participleOf({ verb: 'retryCompensation' })).toBe('told to undo again')
  expect(['skip_compensation', 'retry_compensation', 'skip_step'].map(actionText)).toEqual([
    'mark as undone',
    'retry the undo',
    'skip step',
  ])
})

it('a suggested command is as a shell takes it, with the reason still to be given', () => {
  expect(commandText({ verb: 'retryStep', step: "it's" }, 'order:9185')).toBe(
    `retry order:9185 'it'\\''s' --reason '…'`,
  )
  expect(commandText({ verb: 'migrateRun', to: '3' }, '--workflow parcel --version 2')).toBe(
    'move --workflow parcel --version 2 --to 3 --dry-run',
  )
})
