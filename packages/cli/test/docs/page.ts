import { argsAndFlags, usageOf } from '../../src/help.ts'
import { EVERYWHERE, FLAGS, type Flag } from '../../src/table/flags.ts'
import { VERBS } from '../../src/table/index.ts'
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
    const rows = argsAndFlags(verb).map(
      ([shown, about]) => `| \`${shown.replaceAll('|', '\\|')}\` | ${about.replaceAll('|', '\\|')} |`,
    )
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
