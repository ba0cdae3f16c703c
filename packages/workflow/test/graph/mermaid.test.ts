import { describe, expect, it } from 'vitest'
import { define } from '../../src/definition/index.ts'
import { toMermaid } from '../../src/graph/index.ts'

const record = {
  name: 'checkout',
  version: 2,
  checksum: '',
  shape: {
    steps: [
      { name: 'reserve', dependsOn: [], compensate: 'completed' as const },
      { name: 'end', dependsOn: [0], compensate: 'never' as const },
    ],
  },
}

describe('a Mermaid flowchart', () => {
  it('has steps, dependencies, and a mark on steps with a compensation', () => {
    expect(toMermaid({ record })).toBe(`---
title: "checkout v2"
---
flowchart TD
  s0[["reserve ↩"]]
  s1["end"]
  s0 --> s1
`)
  })

  it('marks what a step waits for', () => {
    const kinds = ['sleep', 'signal', 'approval', 'poll'] as const
    const steps = kinds.map((kind) => ({ name: kind, dependsOn: [], compensate: 'never' as const, kind }))
    const chart = toMermaid({ record: { ...record, shape: { steps } } }, { statuses: { signal: 'waiting' } })
    expect(chart).toContain('s0(["⏲ sleep"])')
    expect(chart).toContain('s1(["✉ signal<br/>waiting"]):::waiting')
    expect(chart).toContain('s2(["☑ approval"])')
    expect(chart).toContain('s3(["⟳ poll"])')
  })

  it('is coloured by the statuses of a run', () => {
    const chart = toMermaid(
      { record },
      { statuses: { reserve: 'compensated', end: 'failed' }, direction: 'LR' },
    )
    expect(chart).toContain('flowchart LR')
    expect(chart).toContain('s0[["reserve ↩<br/>compensated"]]:::compensated')
    expect(chart).toContain('s1["end<br/>failed"]:::failed')
    expect(chart).toMatch(/classDef compensated fill:\S+\n {2}classDef failed fill:\S+\n$/)
  })

  it('has the end steps in a box of their own, after the step that tells how the run ended', () => {
    const order = define('order', { version: 1 })
      .step('ship', { run: () => {} })
      .onCompensated('sorry', { run: () => {} })
      .finally('audit', { dependsOn: ['sorry'], onSkipped: 'run', run: () => {} })
    expect(toMermaid(order)).toBe(`---
title: "order v1"
---
flowchart TD
  s0["ship"]
  subgraph ends["after the end"]
    e0{{"◇ ended"}}
    e1["sorry"]
    e2["audit"]
    e0 -->|"cancelled_and_compensated or compensated"| e1
    e1 -.-> e2
  end
`)
    expect(order.toMermaid({ statuses: { ship: 'completed' } })).toContain('subgraph ends')
    expect(toMermaid(order.followUp!, { statuses: { sorry: 'failed' } })).toContain('s1["sorry<br/>failed"]')
    expect(toMermaid({ record: order.record })).not.toContain('subgraph')
  })

  it('escapes characters that would end a label', () => {
    const name = 'a"]; click <b>&#'
    const shape = { steps: [{ name, dependsOn: [], compensate: 'never' as const }] }
    expect(toMermaid({ record: { ...record, shape } })).toContain(
      's0["a#34;#93;#59; click #60;b#62;#38;#35;"]',
    )
  })

  it('refuses statuses of steps that do not exist, and statuses that do not exist', () => {
    expect(() => toMermaid({ record }, { statuses: { reserv: 'failed' } })).toThrow('Did you mean "reserve"?')
    expect(() => toMermaid({ record }, { statuses: { end: 'complete' as never } })).toThrow(
      /the status of step "end" must be one of .*; got "complete". Did you mean "completed"/,
    )
  })
})
