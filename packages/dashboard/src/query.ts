import { badRequest } from './problem.ts'

const TEXT_MAX = 600
const VALUES_MAX = 100

/** A query by name. Throws `RequestError` for a name that is not taken. */
export function checkedQuery<Name extends string>(
  given: Readonly<Record<string, readonly string[]>>,
  names: readonly Name[],
): Readonly<Partial<Record<Name, readonly string[]>>> {
  for (const [name, values] of Object.entries(given)) {
    if (!names.includes(name as Name)) {
      throw badRequest(`There is no query ${JSON.stringify(name.slice(0, 60))} here: ${names.join(', ')}.`)
    }
    if (values.length > VALUES_MAX || values.some(({ length }) => length > TEXT_MAX)) {
      throw badRequest(`${name} takes up to ${VALUES_MAX} texts of up to ${TEXT_MAX} characters.`)
    }
  }
  return given as Partial<Record<Name, readonly string[]>>
}

/** The only value of a query; undefined if it was not given. */
export function onlyOne(name: string, values: readonly string[] | undefined): string | undefined {
  if (values !== undefined && values.length > 1) throw badRequest(`Give ${name} once.`)
  return values?.[0]
}

export function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw badRequest(`${name} is a whole number.`)
}
