import { type Bench, openBench } from './bench.ts'
import { describeMachine, type Machine } from './machine.ts'
import { type BenchOptions, OptionError, readOptions } from './options.ts'
import { prepareReference } from './reference.ts'
import { Ledger } from './report/ledger.ts'
import { renderReport } from './report/markdown.ts'
import { writeReport } from './report/write-report.ts'
import { SECTIONS, WITHOUT_ASKING } from './sections/all.ts'
import type { Recorder, Section } from './sections/section.ts'
import { openServer } from './server.ts'

const HELP = `Measures Belay on PostgreSQL, compared with single-row updates on the same server in the same run.

  npm run bench                       everything, three rounds of each; 35 minutes
  npm run bench -- --quick            one short round of everything but the peers, about two minutes: shows that it works, not how fast it is
  npm run bench -- --section a,b      only these sections
  npm run bench -- --peers            short for --section peers

  --out DIR      also writes results.md and chart.svg there
  --history N    finished runs in the tables of the section flat; default 10,000,000, with --quick 100,000
  --hold TIME    how long that section keeps a snapshot open; default 10m, with --quick 10s
  --runs N       runs that wait in the section recovery; default 1,000,000, with --quick 20,000
  --help         this

Sections
${SECTIONS.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}

The section peers installs the other systems into bench/peers/node_modules the first time (about 35 MB), where npm start and npm test
never look. absurd's schema isn't on npm: have absurdctl on the PATH, or ABSURD_SQL name the file.

DATABASE_URL measures that server instead of a PostgreSQL 18 from npm with durable settings. Its user must be allowed to create databases:
everything happens in databases made for it, which are removed at the end.`

try {
  const options = readOptions(process.argv.slice(2), {
    sections: SECTIONS.map(({ name }) => name),
    withoutAsking: WITHOUT_ASKING,
  })
  if (options === 'help') console.log(HELP)
  else await main(options)
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`bench: ${error.message}`)
  process.exitCode = 2
}

async function main(options: BenchOptions): Promise<void> {
  const server = await openServer()
  try {
    const machine = await describeMachine(server.url)
    announce(machine)
    const bench = openBench(server, options)
    await prepareReference(server.url)
    const ledger = new Ledger()
    for (const section of SECTIONS) {
      if (!options.sections.includes(section.name)) continue
      bench.progress(`section ${section.name}`)
      await measure(section, { bench, ledger })
      // After each section, so that measured figures survive a later failure.
      if (options.out !== undefined) await writeReport(options.out, ledger, { bench, machine })
    }
    console.log(`\n${renderReport(ledger, { bench, machine })}`)
    if (options.out !== undefined) console.error(`Written to ${options.out}.`)
    if (ledger.failures.length > 0) process.exitCode = 1
  } finally {
    await server.stop()
  }
}

/** A failing section is noted in the report, and the others still run. */
async function measure(section: Section, { bench, ledger }: { bench: Bench; ledger: Ledger }): Promise<void> {
  const attempt = async (what: string, part: () => Promise<unknown>) => {
    try {
      await part()
      return true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      ledger.failures.push(`${what}: ${reason}`)
      bench.progress(`${what} failed: ${reason}`)
      return false
    }
  }
  const record: Recorder = {
    add: (name, figure) => ledger.add(section.name, name, figure),
    note: (sentence) => ledger.note(sentence),
    attempt: (what, part) => attempt(`${section.name}: ${what}`, part),
    append: (markdown) => ledger.appendices.push(markdown),
    bar: (bar) => ledger.addBar(bar),
  }
  await attempt(section.name, () => section.measure(bench, record))
}

function announce({ machine, versions, settings }: Machine): void {
  console.error(`machine   ${machine}`)
  console.error(`versions  ${versions}`)
  console.error(`settings  ${settings}`)
}
