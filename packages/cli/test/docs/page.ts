import { argsAndFlags, flagsOf, usageOf } from '../../src/help.ts'
import { EVERYWHERE, FILTERS, FLAGS, type Flag } from '../../src/table/flags.ts'
import { VERBS } from '../../src/table/index.ts'
import type { Verb } from '../../src/table/verb.ts'
import { pad } from '../../src/terminal/text.ts'

/** The page with its transcripts and its reference written anew. */
export function filled(page: string, transcripts: Readonly<Record<string, string>>): string {
  return page
    .split(/(?=<!-- (?:transcript: \w+|reference) -->)/)
    .map((part) => {
      const [, name] = /^<!-- (transcript: \w+|reference) -->/.exec(part) ?? []
      if (name === undefined) return part
      const after = part.includes('<!-- end -->\n')
        ? part.split('<!-- end -->\n')[1]!
        : part.split(' -->\n').slice(1).join(' -->\n')
      const text = name === 'reference' ? reference() : `\`\`\`\n${transcripts[name.split(': ')[1]!]}\n\`\`\``
      return `<!-- ${name} -->\n${text}\n<!-- end -->\n${after}`
    })
    .join('')
}

/** Every verb with its arguments, flags and examples. */
function reference(): string {
  const verbs = VERBS.map((verb) => {
    const [told, left] = withoutConditions(verb)
    const rows = told.map(([shown, about]) => `| \`${inCell(shown)}\` | ${inCell(about)} |`)
    if (left > 0) rows.push('| the conditions of `belay list` | which runs |')
    const table = rows.length === 0 ? [] : ['', '| | |', '|---|---|', ...rows]
    const longest = Math.max(...verb.examples.map(({ command }) => command.length))
    const examples = verb.examples.map(({ command, about }) => `belay ${pad(command, longest)}  # ${about}`)
    return [`### \`${usageOf(verb)}\``, '', verb.about, ...table, '', '```sh', ...examples, '```'].join('\n')
  })
  const everywhere = EVERYWHERE.map((name) => {
    const { takes, about }: Flag = FLAGS[name]
    return `| \`--${name}${takes === undefined ? '' : ` ${takes}`}\` | ${about} |`
  })
  return [...verbs, ['Every verb takes', '', '| | |', '|---|---|', ...everywhere].join('\n')].join('\n\n')
}

/** The arguments and flags of a verb, and how many conditions of `belay list` are left out, because they mean the same here. */
function withoutConditions(verb: Verb): readonly [readonly (readonly [string, string])[], number] {
  const all = argsAndFlags(verb)
  if (verb.name === 'list') return [all, 0]
  const conditions = new Set(
    flagsOf(verb)
      .filter(({ name, about }) => FILTERS.some((filter) => filter === name && FLAGS[filter].about === about))
      .map(({ shown }) => shown),
  )
  if (conditions.size < FILTERS.length / 2) return [all, 0]
  return [all.filter(([shown]) => !conditions.has(shown)), conditions.size]
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|')
}
