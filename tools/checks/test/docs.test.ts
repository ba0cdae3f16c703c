import { describe, expect, it } from 'vitest'
import { readPage } from '../src/docs/code-blocks.mjs'
import { compileBlocks } from '../src/docs/compile-blocks.mjs'

const FENCE = '```'

describe('reading a page', () => {
  it('takes every TypeScript block with its line, and no other block', () => {
    const page = readPage(`# Title\n\n${FENCE}ts\nconst a = 1\n${FENCE}\n\n${FENCE}sh\nnpm start\n${FENCE}\n`)

    expect(page).toEqual({ blocks: [{ code: 'const a = 1', line: 4 }], ignored: [], problems: [] })
  })

  it('skips ignored blocks, and keeps the reason', () => {
    const page = readPage(`${FENCE}ts ignore: needs a browser\ndocument.title\n${FENCE}`)

    expect(page).toEqual({ blocks: [], ignored: [{ line: 2, reason: 'needs a browser' }], problems: [] })
  })

  it.each(['ignore', 'ignore:', 'ignored: typo', 'skip'])(
    'refuses "ts %s": nothing is skipped without a reason',
    (mark) => {
      const page = readPage(`${FENCE}ts ${mark}\nnope\n${FENCE}`)

      expect(page.blocks).toEqual([])
      expect(page.problems).toHaveLength(1)
      expect(page.problems[0]).toContain(`2: "ts ${mark}" means nothing`)
    },
  )

  it('refuses "continues" without a block before it', () => {
    const page = readPage(`${FENCE}ts continues\na + 1\n${FENCE}`)

    expect(page.problems).toEqual(['2: there is no block that this one could continue'])
  })
})

describe('compiling a page', () => {
  it('accepts blocks that use the packages, hidden declarations and each other', async () => {
    const errors = await compile(
      `<!-- ts\ndeclare const payments: { charge(sum: number): Promise<string> } // https://example.com\n-->\n` +
        `${FENCE}ts\nimport { BelayError } from '@belay/workflow'\nconst charged = await payments.charge(5)\n${FENCE}\n` +
        `and then\n\n${FENCE}ts continues\nconsole.log(charged.length, BelayError.name)\n${FENCE}\n` +
        `${FENCE}ts\nconst charged = 'another module'\nexport { charged }\n${FENCE}\n`,
    )

    expect(errors).toEqual([])
  })

  it('accepts files of one page that import each other, and names the line of a wrong one', async () => {
    const page = (type: string) =>
      `${FENCE}ts file: src/sum.ts\nexport const sum = 5\n${FENCE}\n` +
      `${FENCE}ts file: src/main.ts\nimport { sum } from './sum.js'\nconst shown: ${type} = sum\nconsole.log(shown)\n${FENCE}\n`

    expect(await compile(page('number'))).toEqual([])
    expect(await compile(page('string'))).toEqual([expect.stringMatching(/^README\.md:6:7: error TS2322/)])
  })

  it('names the line of the page on which a block is wrong', async () => {
    const errors = await compile(
      `<!-- ts\ndeclare const sum: number\n-->\n` +
        `${FENCE}ts\nconst fine = sum\n${FENCE}\n\n\n${FENCE}ts continues\nconst wrong: string = fine\n${FENCE}\n` +
        `${FENCE}ts\nimport { nothing } from '@belay/workflow'\n${FENCE}\n`,
    )

    expect(errors).toHaveLength(2)
    expect(errors[0]).toMatch(/^README\.md:10:7: error TS2322/)
    expect(errors[1]).toMatch(/^README\.md:13:10: error TS2305/)
  })

  function compile(markdown: string) {
    return compileBlocks(readPage(markdown).blocks.map((block) => ({ page: 'README.md', ...block })))
  }
})
