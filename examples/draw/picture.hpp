// SPDX-License-Identifier: Apache-2.0
#pragma once

// The picture of a schedule: ranks are rows, rounds are columns, messages are arrows.

#include <hccl/schedule/view.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draw {

/// What goes from one rank to another in a round and ends there in the same way. Blocks are those of the sender.
struct Message {
  int from, to;
  bool combines;  // what arrives with what is there, else it is stored
  std::vector<int> blocks;
};

/// The messages of a round. The k-th arrival from a peer is that peer's k-th send to this rank.
inline std::vector<Message> messages_of(const hccl::schedule_view& schedule, int round) {
  const int ranks = schedule.ranks().size();
  std::vector<std::vector<hccl::block_set>> sent(static_cast<std::size_t>(ranks * ranks));
  const auto between = [&](int from, int to) -> auto& {
    return sent[static_cast<std::size_t>(from * ranks + to)];
  };
  for (int self = 0; self < ranks; ++self) {
    schedule.steps(self, round, [&](const hccl::step& s) {
      if (s.what == hccl::action::send) between(self, s.peer).push_back(s.blocks);
    });
  }
  std::vector<Message> messages;
  for (int self = 0; self < ranks; ++self) {
    std::vector<std::size_t> arrived(static_cast<std::size_t>(ranks));
    schedule.steps(self, round, [&](const hccl::step& s) {
      if (s.what == hccl::action::send) return;
      const bool combines = s.what != hccl::action::receive;
      const auto same = [&](const Message& m) {
        return m.from == s.peer && m.to == self && m.combines == combines;
      };
      auto message = std::ranges::find_if(messages, same);
      if (message == messages.end()) {
        message = messages.insert(message, {s.peer, self, combines, {}});
      }
      const hccl::block_set& blocks = between(s.peer, self).at(arrived[static_cast<std::size_t>(s.peer)]++);
      for (int k = 0; k < blocks.count; ++k) message->blocks.push_back(blocks.at(k, schedule.blocks()));
    });
  }
  for (Message& m : messages) std::ranges::sort(m.blocks);
  return messages;
}

/// Writes a sorted list of blocks with its runs shortened: "0,2-5", "1,3..11".
inline std::string list_of(const std::vector<int>& blocks) {
  std::string text;
  for (std::size_t begin = 0; begin < blocks.size();) {
    const int stride = begin + 1 < blocks.size() ? blocks[begin + 1] - blocks[begin] : 0;
    std::size_t last = begin;
    while (last + 1 < blocks.size() && blocks[last + 1] - blocks[last] == stride) ++last;
    const std::size_t shortest = stride == 1 ? 2 : 3;  // that is shortened
    if (last - begin < shortest) last = begin;
    text += fmt::format("{}{}", begin == 0 ? "" : ",", blocks[begin]);
    if (last > begin) {
      text += stride == 1 ? fmt::format("-{}", blocks[last])
                          : fmt::format(",{}..{}", blocks[begin + 1], blocks[last]);
    }
    begin = last + 1;
  }
  return text;
}

/// Draws one schedule.
class Picture {
 public:
  explicit Picture(const hccl::schedule_view& schedule)
      : schedule_(schedule), ranks_(schedule.ranks().size()) {
    for (int round = 0; round < schedule.rounds(); ++round) rounds_.push_back(messages_of(schedule, round));
    column_ = std::clamp(900.0 / std::max(1, schedule.rounds()), 58.0, 300.0);
    width_ = std::max(left + column_ * schedule.rounds() + right, narrowest);
    height_ = row(ranks_ - 1) + 34;
  }

  /// The picture as SVG, the same text on every machine.
  std::string svg() {
    put(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" )"
        "font-family=\"sans-serif\" font-size=\"11\" fill=\"#57606a\">\n",
        width_, height_);
    put_style();
    put("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#fff\"/>\n");
    put_head();
    put_grid();
    for (std::size_t round = 0; round < rounds_.size(); ++round) put_round(round);
    put("</svg>\n");
    return text_;
  }

 private:
  struct Point {
    double x, y;
    friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
    friend Point operator*(double factor, Point p) { return {factor * p.x, factor * p.y}; }
  };

  static constexpr double left = 74, right = 34, narrowest = 560, top = 118, row_height = 42;
  static constexpr double line = 1.7;    // the width of the line of one block
  static constexpr double margin = 4.5;  // between an arrow and the ranks that it joins

  double row(int rank) const { return top + row_height * rank; }
  double boundary(std::size_t round) const { return left + column_ * static_cast<double>(round); }

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  /// A coordinate with one digit behind the point, if it needs one.
  static std::string number(double value) {
    const long tenths = std::lround(value * 10);
    return tenths % 10 == 0 ? fmt::to_string(tenths / 10)
                            : fmt::format("{:.1f}", static_cast<double>(tenths) / 10);
  }
  static std::string pair(Point p) { return number(p.x) + " " + number(p.y); }

  /// Colours as far apart as can be. Of more than eight, neighbours differ in lightness too.
  std::string colour(int block) const {
    constexpr std::array<std::string_view, 8> few{"#0969da", "#8250df", "#d63aa0", "#d1242f",
                                                  "#e07b00", "#b59a00", "#2da44e", "#0aa5a5"};
    const int blocks = schedule_.blocks();
    if (blocks <= 8) return std::string(few[static_cast<std::size_t>(8 * block / blocks)]);
    return fmt::format("hsl({},70%,{}%)", 360 * block / blocks, block % 2 == 0 ? 34 : 48);
  }

  void put_style() {
    put("<style>");
    for (int block = 0; block < schedule_.blocks(); ++block) put(".b{}{{color:{}}}", block, colour(block));
    put(".l{{stroke:currentColor;stroke-width:{};fill:none}}"
        ".f{{fill:currentColor;stroke:currentColor;stroke-width:1.2;stroke-linejoin:round}}"
        ".o{{fill:#fff;stroke:currentColor;stroke-width:1.2;stroke-linejoin:round}}"
        ".s{{stroke-dasharray:2 2;stroke-width:1.2}}"
        ".m{{color:#424a53}}"
        ".t{{fill:#24292f;text-anchor:middle;font-size:9px;stroke:#fff;stroke-width:4;stroke-linejoin:round;"
        "paint-order:stroke}}"
        "</style>\n",
        line);
  }

  /// Title, figures and legend.
  void put_head() {
    const auto& group = schedule_.ranks();
    std::vector<int> hosts;
    for (int host = 0; host < group.hosts(); ++host) hosts.push_back(group.size_of(host));
    put("<text x=\"16\" y=\"26\" font-size=\"15\" font-weight=\"bold\" fill=\"#24292f\">{}: {}, {} "
        "ranks{}</text>\n",
        schedule_.algorithm(), schedule_.collective(), ranks_,
        hosts.size() > 1 ? fmt::format(", hosts of {}", fmt::join(hosts, ", ")) : "");
    const auto [messages, blocks] = busiest();
    put("<text x=\"16\" y=\"44\">{}; a rank sends at most {}, together {}</text>\n",
        counted(schedule_.rounds(), "round"), counted(messages, "message"), share(blocks));
    put_legend();
  }

  static std::string counted(int count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  /// So many blocks in parts of the buffer.
  std::string share(int blocks) const {
    const int divisor = std::gcd(blocks, schedule_.blocks());
    const int over = blocks / divisor, under = schedule_.blocks() / divisor;
    if (under > 1) return fmt::format("{}/{} of the buffer", over, under);
    return over == 1 ? "the whole buffer" : fmt::format("{} times the buffer", over);
  }

  void put_legend() {
    double x = 16;
    const double y = 66;
    const auto word = [&](std::string_view text, double space) {
      put("<text x=\"{}\" y=\"{}\">{}</text>\n", number(x), number(y), text);
      x += space;
    };
    if (schedule_.blocks() > 1) {
      word("block", 34);
      for (int block = 0; block < schedule_.blocks(); ++block) {
        put("<rect class=\"b{0}\" x=\"{1}\" y=\"{2}\" width=\"9\" height=\"9\" fill=\"currentColor\"/>",
            block, number(x), number(y - 8.5));
        x += 12;
        word(fmt::to_string(block), block < 10 ? 13 : 19);
      }
      x += 12;
    } else {
      word("one block: the whole buffer", 164);
    }
    const auto uses = [&](auto&& condition) {
      return std::ranges::any_of(
          rounds_, [&](const auto& messages) { return std::ranges::any_of(messages, condition); });
    };
    const auto sample = [&](bool combines, bool stays, std::string_view text, double space) {
      const Message message{0, stays ? 0 : 1, combines, {}};
      put_arrow(message, {x, y - 4}, {x + 26, y - 4});
      x += 32;
      word(text, space);
    };
    if (uses([](const Message& m) { return m.combines; })) sample(true, false, "combined", 62);
    if (uses([](const Message& m) { return !m.combines && m.from != m.to; }))
      sample(false, false, "stored", 48);
    if (uses([](const Message& m) { return m.from == m.to; })) sample(false, true, "copied on its rank", 0);
  }

  /// The ranks, the rounds and the hosts.
  void put_grid() {
    const auto& group = schedule_.ranks();
    for (int host = 0; group.hosts() > 1 && host < group.hosts(); ++host) {
      const double begin = row(group.first_of(host)) - row_height / 2 + 2;
      put("<rect x=\"8\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\"/>\n", number(begin),
          number(width_ - 16), number(row_height * group.size_of(host) - 4),
          host % 2 == 0 ? "#eef4fb" : "#fbf4e8");
    }
    put("<text x=\"16\" y=\"92\">round</text>");
    for (int round = 0; round < schedule_.rounds(); ++round) {
      put("<text class=\"t\" x=\"{}\" y=\"92\">{}</text>",
          number(boundary(static_cast<std::size_t>(round)) + column_ / 2), round);
    }
    put("\n");
    for (int rank = 0; rank < ranks_; ++rank) {
      put("<text x=\"16\" y=\"{}\">rank {}</text><path stroke=\"#d0d7de\" d=\"M{} {}H{}\"/>",
          number(row(rank) + 4), rank, number(left), number(row(rank)), number(boundary(rounds_.size())));
      for (std::size_t round = 0; round <= rounds_.size(); ++round)
        put("<circle cx=\"{}\" cy=\"{}\" r=\"2.5\"/>", number(boundary(round)), number(row(rank)));
      put("\n");
    }
  }

  void put_round(std::size_t round) {
    std::vector<int> sends(static_cast<std::size_t>(ranks_));
    for (const Message& m : rounds_[round]) sends[static_cast<std::size_t>(m.from)] += m.from == m.to ? 0 : 1;
    std::string labels;
    for (const Message& m : rounds_[round]) {
      const Point from{boundary(round), row(m.from)}, to{boundary(round + 1), row(m.to)};
      put_arrow(m, from, to);
      if (schedule_.blocks() == 1 || m.from == m.to || sends[static_cast<std::size_t>(m.from)] > 1) continue;
      const std::string label = list_of(m.blocks);
      const Point at = from + (14 + 2.4 * static_cast<double>(label.size())) * direction(from, to);
      labels +=
          fmt::format("<text class=\"t\" x=\"{}\" y=\"{}\">{}</text>", number(at.x), number(at.y + 3), label);
    }
    put("{}\n", labels);
  }

  static Point direction(Point from, Point to) {
    const double length = std::sqrt((to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y));
    return {(to.x - from.x) / length, (to.y - from.y) / length};
  }

  /// One line for each block, side by side, and one head. What stays on its rank is one dashed line.
  void put_arrow(const Message& m, Point from, Point to) {
    const Point along = direction(from, to);
    const Point across{-along.y, along.x};
    const bool stays = m.from == m.to;
    const bool is_bundle = m.blocks.size() != 1;
    const double head = stays ? 5 : 8;
    const Point tip = to + -margin * along;
    const Point begin = from + margin * along, end = tip + -head * along;
    const double half = stays ? 2.2 : std::max(3.2, line * static_cast<double>(m.blocks.size()) / 2 + 1.4);
    const std::string own = is_bundle ? "m" : fmt::format("b{}", m.blocks.front());
    put("<g class=\"{}\">", own);
    if (m.blocks.size() > 0) put("<title>{} to {}: {}</title>", m.from, m.to, list_of(m.blocks));
    if (stays || m.blocks.size() < 2) {
      put("<path class=\"l{}\" d=\"M{}L{}\"/>", stays ? " s" : "", pair(begin), pair(end));
    } else {
      for (std::size_t k = 0; k < m.blocks.size(); ++k) {
        const double aside = line * (static_cast<double>(k) - static_cast<double>(m.blocks.size() - 1) / 2);
        put("<path class=\"l b{}\" d=\"M{}L{}\"/>", m.blocks[k], pair(begin + aside * across),
            pair(end + aside * across));
      }
    }
    put("<path class=\"{}\" d=\"M{}L{}L{}Z\"/></g>\n", m.combines ? "f" : "o", pair(tip),
        pair(end + half * across), pair(end + -half * across));
  }

  /// The most messages that a rank sends to others, and the most blocks.
  std::pair<int, int> busiest() const {
    std::vector<int> messages(static_cast<std::size_t>(ranks_)), blocks(messages);
    for (const auto& round : rounds_) {
      for (const Message& m : round) {
        if (m.from == m.to) continue;
        messages[static_cast<std::size_t>(m.from)] += 1;
        blocks[static_cast<std::size_t>(m.from)] += static_cast<int>(m.blocks.size());
      }
    }
    return {std::ranges::max(messages), std::ranges::max(blocks)};
  }

  hccl::schedule_view schedule_;
  int ranks_;
  std::vector<std::vector<Message>> rounds_;
  double column_, width_, height_;
  std::string text_;
};

/// Draws a schedule as SVG: `picture(hccl::schedule_view::of<Ring>(hccl::AllReduce{}, hccl::group(8)))`.
inline std::string picture(const hccl::schedule_view& schedule) { return Picture(schedule).svg(); }

}  // namespace draw
