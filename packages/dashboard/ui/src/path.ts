/** As it stands in the address: what the router gives is decoded by half, so that a `%252F` of a name would be a slash. */
export function nameInPath(): string {
  return decodeURIComponent(location.pathname.split('/').at(-1)!)
}
