"""The pool: the owner with the smallest virtual runtime runs next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from uniun_bots.inference.policy.line import first_place
from uniun_bots.inference.policy.ordered import Ordered
from uniun_bots.inference.policy.overtaking import Overtaking
from uniun_bots.inference.policy.ticket import Key, Ticket


@dataclass(slots=True, eq=False)
class Account:
    owner: str
    runtime: float
    """Engine seconds; only differences between owners mean something."""
    turn: int
    """Of two with the same runtime the one whose turn is longer ago runs first; unique."""
    present: int = 0
    """Tickets that wait or run, in whatever tier."""
    left_at: float = 0.0
    waiting: dict[str, Ordered[Ticket]] = field(default_factory=dict)
    """By model, each in the order of arrival."""

    def place(self) -> Key:
        # Microseconds: what sums of floats differ by must not decide.
        return round(self.runtime, 6), self.turn


class FairPool:
    def __init__(self, forget_s: float) -> None:
        self.overtaking = Overtaking()
        self._forget_s = forget_s
        self._accounts: dict[str, Account] = {}
        self._present: Ordered[Account] = Ordered()
        self._models: dict[str, Ordered[Account]] = {}
        self._left: deque[tuple[float, Account]] = deque()
        self._floor = 0.0
        self._count = 0
        self._turns = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Ticket]:
        return (
            ticket
            for account in self._accounts.values()
            for tickets in account.waiting.values()
            for ticket in tickets
        )

    # accounts -----------------------------------------------------------------------------------------

    def minimum(self) -> float:
        first = self._present.first()
        return first[0][0] if first else self._floor

    def enter(self, owner: str, now: float) -> None:
        """One more ticket of this owner waits or runs."""
        self._forget(now)
        account = self._accounts.get(owner)
        if account is None:
            account = self._accounts[owner] = Account(owner, self.minimum(), self._next_turn())
        account.present += 1
        self._present.put(account, account.place())

    def leave(self, owner: str, now: float) -> None:
        account = self._accounts[owner]
        account.present -= 1
        if not account.present:
            account.left_at = now
            self._left.append((now, account))
            self._present.discard(account)
            self._floor = account.runtime

    def bill(self, owner: str, seconds: float) -> None:
        account = self._accounts[owner]
        account.runtime += seconds
        self._moved(account)

    def served(self, owner: str) -> None:
        """A job of this owner starts."""
        account = self._accounts[owner]
        account.turn = self._next_turn()
        self._moved(account)

    def runtimes(self) -> dict[str, float]:
        """Of everyone who is remembered, relative to the minimum."""
        minimum = self.minimum()
        return {owner: account.runtime - minimum for owner, account in self._accounts.items()}

    def place_of(self, owner: str) -> Key:
        return self._accounts[owner].place()

    def _next_turn(self) -> int:
        self._turns += 1
        return self._turns

    def _moved(self, account: Account) -> None:
        self._present.put(account, account.place())
        for model in account.waiting:
            self._line_up(account, model)

    def _forget(self, now: float) -> None:
        while self._left and self._left[0][0] <= now - self._forget_s:
            left_at, account = self._left.popleft()
            if not account.present and account.left_at == left_at:
                self._accounts.pop(account.owner, None)

    # the line -----------------------------------------------------------------------------------------

    def add(self, ticket: Ticket) -> None:
        account = self._accounts[ticket.owner]
        account.waiting.setdefault(ticket.model, Ordered()).put(ticket, (0.0, ticket.order))
        self._count += 1
        self._line_up(account, ticket.model)

    def discard(self, ticket: Ticket) -> None:
        account = self._accounts[ticket.owner]
        account.waiting[ticket.model].discard(ticket)
        self._count -= 1
        self._line_up(account, ticket.model)
        if not account.waiting[ticket.model]:
            del account.waiting[ticket.model]
        if self.overtaking:
            self.overtaking.passed(first_place(self))

    def heads(self) -> dict[str, tuple[Key, Ticket]]:
        found: dict[str, tuple[Key, Ticket]] = {}
        for model, accounts in self._models.items():
            first = accounts.first()
            ticket = first and first[1].waiting[model].first()
            if first and ticket:
                found[model] = first[0], ticket[1]
        return found

    def _line_up(self, account: Account, model: str) -> None:
        accounts = self._models.setdefault(model, Ordered())
        if account.waiting[model]:
            accounts.put(account, account.place())
            return
        accounts.discard(account)
        if not accounts:
            del self._models[model]
