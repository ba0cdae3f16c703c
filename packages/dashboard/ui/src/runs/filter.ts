/** One condition of a filter, as it is written: `status:failed`. */
export interface Term {
  readonly field: Field
  readonly value: string
}

const FIELDS = ['workflow', 'version', 'status', 'key', 'tag', 'parent', 'waits', 'since', 'until'] as const
type Field = (typeof FIELDS)[number]

/** All others hold one value: the last one counts. */
const REPEATED: ReadonlySet<Field> = new Set(['workflow', 'status', 'tag'])

/** A run's id, or at least the first eight digits of one. */
export const ID = /^[0-9a-f]{8}[0-9a-f-]*$/i

/** The terms in a query string. What is no field of a filter is left out. */
export function termsOf(search: string): readonly Term[] {
  const terms = [...new URLSearchParams(search)].flatMap(([field, value]) =>
    isField(field) && value !== '' ? [{ field, value }] : [],
  )
  return united([], terms)
}

/** As a query string, without a question mark. */
export function searchOf(terms: readonly Term[]): string {
  return new URLSearchParams(terms.map(({ field, value }) => [field, value])).toString()
}

/** As text to copy, and to type. */
export function textOf(terms: readonly Term[]): string {
  return terms.map(({ field, value }) => `${field}:${/\s/.test(value) ? `"${value}"` : value}`).join(' ')
}

/** What somebody typed: terms, and perhaps a run's id. A word that is neither is a key. */
export function parse(text: string): { readonly terms: readonly Term[]; readonly id?: string } {
  const words = text.match(/(?:[^\s"]|"[^"]*")+/g) ?? []
  if (words.length === 1 && ID.test(words[0]!)) return { terms: [], id: words[0]! }
  return {
    terms: words.flatMap((word) => {
      const colon = word.indexOf(':')
      const field = word.slice(0, colon)
      const value = (isField(field) ? word.slice(colon + 1) : word).replaceAll('"', '')
      return value === '' ? [] : [{ field: isField(field) ? field : ('key' as const), value }]
    }),
  }
}

/** Both, without doubles; of a field with one value the newer one. */
export function united(old: readonly Term[], added: readonly Term[]): readonly Term[] {
  return [...old, ...added].reduce<readonly Term[]>((terms, term) => {
    const kept = terms.filter(
      ({ field, value }) => field !== term.field || (REPEATED.has(field) && value !== term.value),
    )
    return [...kept, term]
  }, [])
}

export function without(terms: readonly Term[], gone: Term): readonly Term[] {
  return terms.filter(({ field, value }) => field !== gone.field || value !== gone.value)
}

function isField(text: string): text is Field {
  return (FIELDS as readonly string[]).includes(text)
}
