import { BelayError } from '../../errors.ts'
import { checkArgument, type Kind, Refusal, readOptions } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { type CheckedSchedule, checkSchedule, type NamedSchedule, scheduleName } from './schedule-options.ts'

/** The most schedules that one call puts. */
const PUT_MAX = 1_000

const TO_PUT: Kind<readonly unknown[]> = {
  words: `an array of 1 to ${PUT_MAX.toLocaleString('en')} schedules, each with a name`,
  read(given) {
    if (!Array.isArray(given)) return new Refusal(shown(given))
    const { length } = given
    return length >= 1 && length <= PUT_MAX ? Array.from(given) : new Refusal(`an array of ${length}`)
  },
}

/** Checks the schedules of one call. Throws `invalid_option`. */
export function checkMany(call: string, given: unknown): readonly CheckedSchedule[] {
  const schedules = checkArgument(call, 'the schedules', given, TO_PUT)
  return checkNamed(call, schedules).map(({ name, ...schedule }) =>
    checkSchedule(`${call}: schedule ${shown(name)}`, name, schedule, false),
  )
}

/** Checks that each has a name of its own. Throws `invalid_option`. */
export function checkNamed(call: string, given: readonly unknown[]): readonly NamedSchedule[] {
  const seen = new Set<string>()
  return given.map((each, index) => {
    const { name: stated, ...schedule } = (readOptions(each) ?? {}) as unknown as NamedSchedule
    const name = checkArgument(`${call}: schedules[${index}]`, 'name', stated, scheduleName)
    if (seen.has(name))
      throw new BelayError(
        'invalid_option',
        `${call}: schedules holds ${shown(name)} twice. Give each name once.`,
      )
    seen.add(name)
    return { name, ...schedule }
  })
}
