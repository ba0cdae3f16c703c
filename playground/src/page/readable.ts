const LOCAL_TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The engine's sentence with workers' names for their ids, and this page's clock for instants. */
export function readable(sentence: string, names: Readonly<Record<string, string>>): string {
  return sentence
    .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => names[id] ?? id)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => LOCAL_TIME.format(new Date(instant)))
}

/** A version that somebody wrote. Code of another shape under the same version gets a long number of its own, which says nothing. */
export function versionText(version: number): string {
  return version < 1_000 ? `v${version}` : ''
}
