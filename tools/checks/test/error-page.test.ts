import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorPage, readCodes } from '../src/docs/error-page.mjs'

const source = readFileSync(new URL('../../../packages/workflow/src/error-codes.ts', import.meta.url), 'utf8')

describe('the page of error codes', () => {
  it('has every code of the union', () => {
    const quoted = source.match(/^ {2}\| '\w+'/gm) ?? []

    expect(readCodes(source).map(({ code }) => `  | '${code}'`)).toEqual(quoted)
    expect(quoted.length).toBeGreaterThan(40)
    expect(errorPage(source).problems).toEqual([])
  })

  it('takes group, meaning, origin and remedy from the comment', () => {
    const text = [
      'export type BelayErrorCode =',
      '  // Runs',
      '  /**',
      '   * No run has',
      '   * this id.',
      '   *',
      '   * From: every {@link RunHandle}',
      '   *',
      '   * Remedy: Check a | b.',
      '   */',
      "  | 'unknown_run'",
    ].join('\n')

    expect(readCodes(text)).toEqual([
      {
        code: 'unknown_run',
        group: 'Runs',
        meaning: 'No run has this id.',
        from: 'every `RunHandle`',
        remedy: 'Check a | b.',
      },
    ])
    expect(errorPage(text).page).toContain(
      '## Runs\n\n| code | what happened | comes from | what to do |\n|---|---|---|---|\n| <a id="unknown_run"></a>`unknown_run` | No run has this id. | every `RunHandle` | Check a \\| b. |',
    )
  })

  it.each([
    ["  | 'bare'", 'bare'],
    ["  /** A meaning alone. */\n  | 'half'", 'half'],
    ["  /** Documented. From: x Remedy: y */\n  | 'good'\n  | 'next'", 'next'],
  ])('refuses a code that is not fully documented: %j', (text, code) => {
    expect(errorPage(text).problems).toEqual([expect.stringContaining(`"${code}"`)])
  })
})
