import { failover } from './failover.ts'
import { HELP, OptionError, readOptions } from './options.ts'

try {
  const options = readOptions(process.argv.slice(2))
  if (options === 'help') console.log(HELP)
  else {
    const { text, isGood } = await failover(options, (line) => console.log(line))
    console.log(text)
    process.exitCode = isGood ? 0 : 1
  }
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`failover: ${error.message}`)
  process.exitCode = 2
}
