import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { labelsOf, problemsOf, SERIES, seriesIn } from './promql.ts'

interface Place {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description: string
  readonly gridPos: Place
  readonly fieldConfig: {
    readonly defaults: { readonly unit: string; readonly thresholds: { readonly steps: readonly unknown[] } }
  }
  readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[]
}

interface Variable {
  readonly name: string
  readonly type: string
  readonly definition?: string
}

const text = readFileSync(new URL('../grafana/belay.json', import.meta.url), 'utf8')
const dashboard = JSON.parse(text) as {
  readonly id: null
  readonly uid: string
  readonly schemaVersion: number
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}
const { panels, templating } = dashboard
const shown = panels.filter(({ type }) => type !== 'row')
const rows = panels.filter(({ type }) => type === 'row')

/** As Grafana sends it. */
const filled = (expression: string) => expression.replaceAll('$__rate_interval', '5m')

describe('the dashboard', () => {
  it('answers the four questions of a pager, in their order', () => {
    expect(rows.map(({ title }) => title)).toEqual([
      'Is anything stuck?',
      'Is it getting slower?',
      'What fails?',
      'What waits for a person?',
    ])
    const tops = rows.map(({ gridPos }) => gridPos.y)
    expect(tops).toEqual([...tops].sort((one, other) => one - other))
  })

  it('can be imported into any Grafana: nothing in it is of one machine', () => {
    expect(dashboard).toMatchObject({ id: null, uid: 'belay', schemaVersion: 39 })
    const uids = [...text.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid)
    for (const uid of uids) expect(uid).toMatch(/^belay$|^\$\{datasource\}$/)
    expect(text).not.toMatch(/https?:|localhost|orgId|"iteration"|gnetId/)
  })

  it('asks for the values of its variables', () => {
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['workflow', 'query'],
    ])
    for (const { name, definition = '' } of templating.list.slice(1)) {
      const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? []
      expect(problemsOf(selector)).toEqual([])
      expect(seriesIn(selector).flatMap((series) => SERIES.get(series))).toContain(label)
      expect(label).toBe(name)
    }
  })

  it.each(shown)('$title says what it shows, with its unit', ({ title, description, fieldConfig }) => {
    const { unit, thresholds } = fieldConfig.defaults
    expect(title).toMatch(/^[A-Z].{3,24}$/)
    expect(description).toMatch(/^[A-Z].*[.]$/)
    expect(['s', 'short', 'percentunit']).toContain(unit)
    expect(thresholds.steps.length).toBeGreaterThan(0)
  })

  it.each(shown)('$title asks for series and labels that are exported', ({ targets }) => {
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr, legendFormat = '' } of targets) {
      expect(problemsOf(filled(expr))).toEqual([])
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name)
      for (const name of named) expect(labelsOf(filled(expr))).toContain(name)
    }
  })

  it.each(shown)('$title is in seconds if its series are', ({ targets, fieldConfig }) => {
    for (const { expr } of targets) {
      const isInSeconds = seriesIn(filled(expr)).every((name) => /_seconds(_bucket)?$/.test(name))
      expect(fieldConfig.defaults.unit === 's').toBe(isInSeconds)
    }
  })

  it('uses only variables that it has', () => {
    const known = new Set(['__rate_interval', '__all', ...templating.list.map(({ name }) => name)])
    for (const [, name] of text.matchAll(/\$\{?(\w+)/g)) expect(known).toContain(name)
  })

  it('has each number once, and no panel on another', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24)
      return Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`)
    })
    expect(new Set(cells).size).toBe(cells.length)
  })
})
