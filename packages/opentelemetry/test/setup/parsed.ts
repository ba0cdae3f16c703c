import { expect } from 'vitest'

interface Family {
  help?: string
  type?: string
  readonly samples: { name: string; labels: Record<string, string>; value: number }[]
}

/** Reads the text format strictly: each family has its help, then its type, then only samples of its own. */
export function parsed(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let current = ''
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n')) {
    if (line === '') continue
    const help = /^# HELP ([a-z_0-9]+) (.+)$/.exec(line)
    const type = /^# TYPE ([a-z_0-9]+) (counter|gauge|histogram)$/.exec(line)
    if (help !== null) {
      current = help[1]!
      expect(families.has(current)).toBe(false)
      families.set(current, { help: help[2]!, samples: [] })
    } else if (type !== null) {
      expect(type[1]).toBe(current)
      families.get(current)!.type = type[2]!
    } else {
      const sample = /^([a-z_0-9]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)+)\})? ([-+0-9.e]+)$/.exec(line)
      if (sample === null) throw new Error(`This is no sample: ${line}`)
      const [, name, labels = '', value] = sample
      const family = families.get(current)!
      const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      expect(suffixes.map((suffix) => current + suffix)).toContain(name)
      family.samples.push({
        name: name!,
        labels: Object.fromEntries(
          [...labels.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, own]) => [label!, own!]),
        ),
        value: Number(value),
      })
    }
  }
  return families
}
