import { writeFile } from 'node:fs/promises'
import { HELP, OptionError, readOptions } from './options.ts'
import { renderReport } from './report/report.ts'
import { chaos } from './supervisor/chaos.ts'

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') console.log(HELP)
  else {
    console.error(`chaos of ${options.classes.join(', ')}, seed ${options.seed}`)
    const report = await chaos(options, (line) => console.error(line))
    console.log(renderReport(report, commandOf(process.argv.slice(2))))
    if (options.out !== undefined) await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`)
    process.exitCode = report.violations.length === 0 ? 0 : 1
  }
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`chaos: ${error.message}`)
  process.exitCode = 2
}

/** The command that repeats these choices; the caller appends the seed. */
function commandOf(args: readonly string[]): string {
  const kept = args.filter((arg, index) => !arg.startsWith('--seed') && args[index - 1] !== '--seed')
  return ['npm run chaos --', ...kept].join(' ')
}
