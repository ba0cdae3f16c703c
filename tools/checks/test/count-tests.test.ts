import { describe, expect, it } from 'vitest'
import { countTests } from '../../../scripts/count-tests.mjs'

const passed = { status: 'passed', assertionResults: [{ status: 'passed' }, { status: 'passed' }] }

describe('the last line of CI', () => {
  it('counts tests', () => {
    const failing = { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] }

    const line = countTests({
      success: false,
      numPassedTests: 3,
      numFailedTests: 1,
      testResults: [passed, failing],
    })

    expect(line).toBe('3 passed, 1 failed')
  })

  it('counts a file that could not be loaded as failed', () => {
    const broken = { status: 'failed', assertionResults: [] }

    const line = countTests({
      success: false,
      numPassedTests: 2,
      numFailedTests: 0,
      testResults: [passed, broken],
    })

    expect(line).toBe('2 passed, 1 failed')
  })

  it('counts an error outside all tests as failed', () => {
    const line = countTests({ success: false, numPassedTests: 2, numFailedTests: 0, testResults: [passed] })

    expect(line).toBe('2 passed, 1 failed')
  })
})
