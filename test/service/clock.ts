/** The service's only source of time: milliseconds since the epoch. */
export interface Clock {
  readonly now: () => number;
}
