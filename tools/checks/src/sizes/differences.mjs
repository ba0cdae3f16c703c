/** @typedef {Readonly<Record<string, readonly number[]>>} Lengths by file, in the order of the file */

/**
 * Where the functions that are too long are not those of the list, one sentence each.
 * @param {Lengths} found
 * @param {Lengths} listed
 * @returns {string[]}
 */
export function differences(found, listed) {
  return [...new Set([...Object.keys(found), ...Object.keys(listed)])].toSorted().flatMap((path) => {
    const [are, may] = [found[path] ?? [], listed[path] ?? []]
    if (are.join() === may.join()) return []
    const hasGrown = are.length > may.length || are.some((lines, index) => lines > (may[index] ?? 0))
    const told = `${path}: functions of ${are.join(', ') || 'no more than 40'} lines, listed are ${may.join(', ') || 'none'}`
    return [`${told}: ${hasGrown ? 'split what is longer by meaning' : 'lower the list to that'}.`]
  })
}
