import { HELP, OptionError, readMinutes } from './options.ts'
import { soakSchedules } from './soak.ts'

try {
  const minutes = readMinutes(process.argv.slice(2))
  if (minutes === 'help') console.log(HELP)
  else {
    const { text, isGood } = await soakSchedules(minutes, (line) => console.log(line))
    console.log(text)
    process.exitCode = isGood ? 0 : 1
  }
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`schedules:soak: ${error.message}`)
  process.exitCode = 2
}
