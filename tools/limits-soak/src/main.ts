import { HELP, OptionError, readOptions } from './options.ts'
import { type SoakResult, soak } from './soak.ts'

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') console.log(HELP)
  else {
    console.error(`limits under kills and freezes, seed ${options.seed}`)
    const result = await soak(options, (line) => console.error(line))
    console.log(report(result))
    process.exitCode = result.violations.length === 0 ? 0 : 1
  }
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`limits:soak: ${error.message}`)
  process.exitCode = 2
}

function report({ faults, seconds, calls, peaks, window, small, large, violations }: SoakResult): string {
  return [
    `${calls} handlers noted in ${seconds.toFixed(0)} s; ${faults.killed} processes killed, ${faults.frozen} frozen`,
    ...peaks.map(
      ({ limit, key, atOnce, allowed }) =>
        `  ${limit}: at most ${atOnce} at once${key === '' ? '' : ` (key "${key}")`}; allowed are ${allowed}`,
    ),
    `  mail: at most ${window.fullest} within a second; allowed are ${window.allowed}`,
    `  last turn of each of ${small.keys} small customers: median after ${(small.medianMs / 1_000).toFixed(1)} s, last after ${(small.lastMs / 1_000).toFixed(1)} s; of the large one after ${(large.lastMs / 1_000).toFixed(1)} s`,
    ...(violations.length === 0
      ? ['every limit held, every run ended, no slot was lost']
      : ['BROKEN:', ...violations.map((sentence) => `  ${sentence}`)]),
  ].join('\n')
}
